"""Cold starts and memory: `triage status` against `import slack_sdk`; resident memory of an idle `triage run`.

Target: status at most 2 times the import. Memory is reported; the aim is under 120 MB.
"""

from __future__ import annotations

import os
import statistics
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
IDLE_S = 5


def _seconds(argv: list[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=env)
    return time.perf_counter() - start


def _cold_starts() -> float:
    """Print the two start times, measured in turns, and return their ratio."""
    times: dict[str, list[float]] = {"triage status": [], "import slack_sdk": []}
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "TRIAGE_HOME": home}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = {"triage status": ["-m", "bot", "status"], "import slack_sdk": ["-c", "import slack_sdk"]}
        for _ in range(RUNS):
            for name, argv in commands.items():
                times[name].append(_seconds([sys.executable, *argv], env))
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["triage status"] / medians["import slack_sdk"]
    for name, value in medians.items():
        print(f"{name:<20} {value * 1000:6.0f} ms")
    print(f"ratio {ratio:.2f} (target at most {TARGET})")
    return ratio


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
