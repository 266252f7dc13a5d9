"""Cold starts and memory: commands against `import slack_sdk`; resident memory of an idle `triage run`.

Target: each at most 2 times the processor time of the import. Memory is reported; the aim is under 120 MB.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.acknowledge import triage_on
from demo.binary import cache_folder, ensure_binary

RUNS = 15
TARGET = 2.0
BASE = "import slack_sdk"
COMMANDS = ("--version", "status", "open", "metrics", "brief", "pause", "resume", "notes list")
IDLE_S = 5


def _processor_s(argv: list[str], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cold_starts() -> float:
    """Print the processor time of each start, measured in turns, and return the highest ratio of a target."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "TRIAGE_HOME": home}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        starts = {BASE: ["-c", BASE], **{f"triage {words}": ["-m", "bot", *words.split()] for words in COMMANDS}}
        times: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(RUNS):
            for name, argv in starts.items():
                times[name].append(_processor_s([sys.executable, *argv], env))
    least = {name: min(values) for name, values in times.items()}
    for name, value in least.items():
        print(f"{name:<24} {value * 1000:6.0f} ms  {value / least[BASE]:.2f}")
    worst = max(least[f"triage {words}"] for words in COMMANDS) / least[BASE]
    print(f"ratio {worst:.2f} (target at most {TARGET})")
    return worst


def _idle_memory_mb() -> float:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        control, pid = triage_on(stack, ensure_binary(cache_folder(os.environ)), folder)
        control.wait_for(control.is_connected, "the bot to connect", timeout_s=60)
        time.sleep(IDLE_S)
        status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def main() -> int:
    """Print both and return 0 if the cold start meets its target."""
    ratio = _cold_starts()
    print(f"idle `triage run`, offline: {_idle_memory_mb():.0f} MB resident (aim: under 120)")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
