"""What one question and one beat really pass through: files, edges between files, deepest stack, stops in order.

The ordinary bot in HTTP mode, offline, over a stub of Slack's Web API; calls between this project's own functions are
counted while the listener, the sorter and the worker handle one message up to its card, and while one beat runs up to
its alert. The code is indexed before the question is asked, as it is a minute after the bot's start.
Target: a question at most 45 files, 90 edges, 8 frames; a beat at most 40 files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.domain.heartbeats.beats import Wake
from handlers.transport.http_app import EVENTS_PATH
from tests.handlers.signed import SECRET, as_json, send, sign
from tests.handlers.slack_stub import Answer, SlackStub, slack_stub
from tests.payloads import payload

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {"question": {"files": 45, "edges": 90, "depth": 8}, "beat": {"files": 40}}
LIMIT_S = 60.0
TEAM, HELP, OPS, OWNER = "T0WALK", "C0HELP", "C0OPS", "U0OWNER"
QUESTION = "How often do we retry a payment?"
SOURCE = """MAX_RETRIES = 5


def retry_payment(order):
    # Retry a payment at most MAX_RETRIES times.
    return [order] * MAX_RETRIES
"""
PLAYBOOK = """# Heartbeat

## Urgent Flags

- The export is stuck

## Quick Tasks

- [ ] Run `git status --porcelain`
"""


@dataclass
class Trace:
    """The calls between the project's own files on the threads that were traced."""

    files: set[str] = field(default_factory=set)
    edges: set[tuple[str, str]] = field(default_factory=set)
    depth: int = 0
    stops: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the figures and the ordered stops."""
        return {"files": len(self.files), "edges": len(self.edges), "depth": self.depth, "stops": self.stops}


class Tracer:
    """Counts calls on every thread while it is on; a call that passes through a library keeps its caller."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._is_on = False
        self._entries: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._names: dict[str, str | None] = {}

    @contextmanager
    def tracing(self, entries: tuple[str, ...]) -> Iterator[Trace]:
        """Count from here on what is called from the files that begin so; yields what was counted."""
        self.trace, self._entries = Trace(), entries
        self._is_on = True
        try:
            yield self.trace
        finally:
            self._is_on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Serve as the profile function of a thread."""
        if event != "call" or not self._is_on or self._own(frame) is None:
            return
        path = self._path(frame)
        if _is_traced(path, self._entries):
            self._count(path)

    def _path(self, frame: FrameType | None) -> list[str]:
        """Return the files of our own functions from the outermost to this one, one entry for each frame."""
        names = []
        while frame is not None:
            if (name := self._own(frame)) is not None:
                names.append(name)
            frame = frame.f_back
        return names[::-1]

    def _count(self, path: list[str]) -> None:
        with self._lock:
            trace = self.trace
            if path[-1] not in trace.files:
                trace.files.add(path[-1])
                trace.stops.append(path[-1])
            if len(path) > 1 and path[-1] != path[-2]:
                trace.edges.add((path[-2], path[-1]))
            between_files = 1 + sum(1 for caller, callee in pairwise(path) if caller != callee)
            trace.depth = max(trace.depth, between_files)

    def _own(self, frame: FrameType) -> str | None:
        """Return the file of one of our own functions, from the root of the project; None for anybody else's."""
        filename = frame.f_code.co_filename
        if filename not in self._names:
            path = Path(filename)
            is_own = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            self._names[filename] = str(path.relative_to(ROOT)) if is_own else None
        return self._names[filename] if frame.f_code.co_name != "<module>" else None


PACKAGES = ("bot", "handlers", "blocks")
ENTRIES = {"question": ("handlers/routes.py", "bot/intake/", "bot/casework/"), "beat": ("bot/heartbeat/",)}
"""Where counted work begins: the listener, the sorter of messages, and the handlers that the worker calls."""
BACKGROUND = ("bot/runtime/duties.py", "bot/app.py")
"""What looks after the bot meanwhile is no part of the walk."""


def _is_traced(names: list[str], entries: tuple[str, ...]) -> bool:
    return any(name.startswith(entries) for name in names) and not any(name in BACKGROUND for name in names)


def _codebase(folder: Path) -> Path:
    """Make a small git repository with one file to quote and a playbook."""
    repo = folder / "shop"
    (repo / "shop").mkdir(parents=True)
    (repo / "shop" / "retry.py").write_text(SOURCE)
    author = ["-c", "user.name=walk", "-c", "user.email=walk@example.com"]
    for argv in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "Retry payments"]):
        subprocess.run(["git", "-C", str(repo), *argv], check=True)
    (repo / "HEARTBEAT.md").write_text(PLAYBOOK)
    return repo


def _script(stub: SlackStub) -> None:
    """Teach the stub the few answers that the bot reads."""
    bot = {"user_id": "U0BOT", "bot_id": "B0BOT", "team_id": TEAM, "team": "walk", "user": "triage"}
    channel = {"id": OPS, "name": "ops", "is_private": True, "is_member": True}
    stub.will("auth.test", Answer(bot))
    stub.will("conversations.info", Answer({"channel": channel}))
    stub.will("conversations.members", Answer({"members": [OWNER, "U0BOT"]}))
    stub.will("conversations.open", Answer({"channel": {"id": "D0OWNER"}}))
    stub.will("users.info", Answer({"user": {"id": OWNER, "name": "ana", "team_id": TEAM, "tz": "UTC", "profile": {}}}))
    for method in ("conversations.history", "conversations.replies"):
        stub.will(method, Answer({"messages": [], "has_more": False}))
    stub.will("chat.getPermalink", Answer({"permalink": "https://walk.example.com/archives/C0HELP/p1"}))


def _bot(stub: SlackStub, folder: Path) -> App:
    home, repo = folder / "home", _codebase(folder)
    home.mkdir(mode=0o700)
    config = {
        "codebase": str(repo),
        "ops_channel": OPS,
        "watched_chats": [{"chat_id": HELP, "name": "help"}],
        "approvers": [OWNER],
        "slack": {"mode": "http", "http": "127.0.0.1:0"},
        "heartbeat": {"every": "24h"},
        "sessions": {"shop": {"name": "shop", "cwd": str(repo), "owner": OWNER}},
    }
    (home / "triage.yml").write_text(yaml.safe_dump(config))
    environment = {
        "TRIAGE_HOME": str(home),
        "SLACK_BOT_TOKEN": "xoxb-walk",
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_URL": stub.url,
    }
    return App(load_settings(home / "triage.yml"), read_environment(environment))


def _until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"walk: waited {LIMIT_S:.0f} s for {what}")
        time.sleep(0.02)


def _offers_approval(stub: SlackStub) -> bool:
    return any("approve" in json.dumps(call) for name in ("chat.update", "chat.postMessage") for call in stub.of(name))


def _ask(url: str) -> None:
    """Send one question, signed as Slack signs it."""
    body = payload("message")
    ts = f"{time.time():.6f}"
    body["team_id"], body["event_id"] = TEAM, "Ev0WALK"
    body["event"] |= {"channel": HELP, "user": "U0ASKER", "team": TEAM, "ts": ts, "event_ts": ts, "text": QUESTION}
    data, content_type = as_json(body)
    if send(url, data, content_type, sign(data, time.time())).status_code != 200:
        raise SystemExit("walk: the bot refused the question")


def _is_idle(home: Path) -> bool:
    """Whether no job waits or runs."""
    return not any(path.suffix == ".json" for path in (home / "queue").rglob("*"))


def _question(bot: App, stub: SlackStub, home: Path, tracer: Tracer) -> dict[str, Any]:
    for refresh in bot.process.code.refreshes().values():
        refresh()
    with tracer.tracing(ENTRIES["question"]) as trace:
        _ask(f"http://{bot.connection.address}{EVENTS_PATH}")
        _until(lambda: _offers_approval(stub), "the card of the question")
        _until(lambda: _is_idle(home), "the job to be done")
    return trace.as_json()


def _beat(bot: App, home: Path, tracer: Tracer) -> dict[str, Any]:
    record = home / "heartbeats.ndjson"
    sys.setprofile(tracer)  # the wake is asked for on this thread
    try:
        with tracer.tracing(ENTRIES["beat"]) as trace:
            bot.team.heartbeats.scheduler.wake("shop", Wake.ON_DEMAND)
            _until(lambda: record.exists() and '"sent"' in record.read_text(), "the alert of the beat")
            _until(lambda: _is_idle(home), "the job to be done")
    finally:
        sys.setprofile(None)
    return trace.as_json()


def walk() -> dict[str, dict[str, Any]]:
    """Return the figures of one question and one beat: files, edges, depth and the stops in order."""
    tracer = Tracer()
    threading.setprofile(tracer)  # before any worker starts
    found = {}
    try:
        with tempfile.TemporaryDirectory() as folder, slack_stub() as stub:
            _script(stub)
            home = Path(folder) / "home"
            bot = _bot(stub, Path(folder))
            bot.start()
            try:
                found["question"] = _question(bot, stub, home, tracer)
                found["beat"] = _beat(bot, home, tracer)
            finally:
                bot.stop()
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the walks; returns 0 if all targets are met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks walk", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the figures and stops as one JSON object")
    wants_json = parser.parse_args(argv or []).json
    found = walk()
    if wants_json:
        print(json.dumps(found, indent=1))
    missed = False
    for name, targets in TARGETS.items():
        figures = found[name]
        missed |= any(figures[key] > most for key, most in targets.items())
        if not wants_json:
            aims = ", ".join(f"{key} {figures[key]} (aim ≤ {most})" for key, most in targets.items())
            print(f"{name}: {aims}; edges {figures['edges']}, depth {figures['depth']}")
            print("\n".join(f"  {number:3} {stop}" for number, stop in enumerate(figures["stops"], 1)))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
