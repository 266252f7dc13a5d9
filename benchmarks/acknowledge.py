"""Envelope to acknowledgement: triage against bare Bolt apps, 1,000 messages each through local-slack, taking turns.

Each bot has a server of its own; a message's time is how long the server's control API takes to see it acknowledged.
Target: triage's median at most 1.5 times that of the app that appends, fsyncs and acknowledges.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from demo.binary import cache_folder, ensure_binary
from demo.control import Control
from demo.slack_server import LocalSlack
from demo.workspace import BEN, DEMO, ENG, OPS

MESSAGES = 1_000
TARGET = 1.5


@contextmanager
def _process(argv: list[str], env: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(15)


def _bare(stack: ExitStack, binary: Path, path: str) -> Control:
    slack = stack.enter_context(LocalSlack(binary, DEMO, env=os.environ))
    argv = [sys.executable, "-m", "benchmarks.bare_bolt", slack.api_url, path]
    stack.enter_context(_process(argv, dict(os.environ)))
    return stack.enter_context(Control(slack.url))


def triage_on(stack: ExitStack, binary: Path, folder: Path) -> tuple[Control, int]:
    """Start a server and the bot on it; returns the server's control and the bot's process id."""
    slack = stack.enter_context(LocalSlack(binary, DEMO, env=os.environ))
    config = folder / "triage.yml"
    chats = [{"chat_id": ENG.channel_id, "name": ENG.name}]
    config.write_text(
        yaml.safe_dump({"codebase": str(Path.cwd()), "ops_channel": OPS.channel_id, "watched_chats": chats})
    )
    env = {
        **os.environ,
        "TRIAGE_HOME": str(folder / "home"),
        "SLACK_BOT_TOKEN": DEMO.bot_token,
        "SLACK_APP_TOKEN": DEMO.app_token,
        "SLACK_API_URL": slack.api_url,
    }
    pid = stack.enter_context(_process([sys.executable, "-m", "bot", "run", "--config", str(config)], env))
    return stack.enter_context(Control(slack.url)), pid


def main() -> int:
    """Print p50 and p99 of the three bots and return 0 if triage meets its target."""
    binary = ensure_binary(cache_folder(os.environ))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bots = {
            "acknowledge only": _bare(stack, binary, "-"),
            "append, fsync, acknowledge": _bare(stack, binary, str(folder / "bare.ndjson")),
            "triage": triage_on(stack, binary, folder)[0],
        }
        times: dict[str, list[float]] = {name: [] for name in bots}
        for control in bots.values():
            control.wait_for(control.is_connected, "a bot to connect", timeout_s=60)
        for number in range(MESSAGES):
            for name, control in bots.items():
                start = time.perf_counter()
                control.say(ENG.channel_id, BEN.user_id, f"deploying build {number} to staging now")
                times[name].append((time.perf_counter() - start) * 1000)
    return _report(times)


def _report(times: dict[str, list[float]]) -> int:
    medians = {}
    for name, values in times.items():
        medians[name] = statistics.median(values)
        print(f"{name:<28} p50 {medians[name]:6.2f} ms   p99 {statistics.quantiles(values, n=100)[98]:6.2f} ms")
    ratio = medians["triage"] / medians["append, fsync, acknowledge"]
    bare = medians["triage"] / medians["acknowledge only"]
    print(f"triage / append, fsync, acknowledge: {ratio:.2f} (target at most {TARGET}); / acknowledge only: {bare:.2f}")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
