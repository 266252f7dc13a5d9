"""`triage run` that is killed at a named moment; no line of the product knows of it.

    python -m tests.crashes.victim <home> <moment as JSON> run --config …

An audit event comes just before its effect, so SIGKILL at the event is a death before it. A death after it comes with
the next step of the same thread, which is profiled from the event on; after an append it comes with the fsync.
Source: https://docs.python.org/3/library/audit_events.html and sys.setprofile
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The `nth` effect whose description `pattern` matches, or just after it."""

    pattern: str
    nth: int = 1
    after: bool = False

    def as_argument(self) -> str:
        """Return what `main` takes on its command line."""
        return json.dumps(asdict(self))


class Executioner:
    """The audit hook of one process; `home` is what the paths in descriptions are relative to."""

    def __init__(self, home: str, moment: Moment) -> None:
        self._home, self._moment = home, moment
        self._pattern = re.compile(moment.pattern, re.DOTALL)
        self._left = moment.nth
        self._busy = threading.local()

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Look at one audit event; does not return from the one it was made for."""
        if getattr(self._busy, "looking", False):
            return
        self._busy.looking = True
        try:
            self._look(event, args)
        finally:
            self._busy.looking = False

    def _look(self, event: str, args: tuple[Any, ...]) -> None:
        what = self._described(event, args)
        if what is None or not self._pattern.match(what):
            return
        self._left -= 1
        if self._left == 0:
            if not self._moment.after:
                die()
            sys.setprofile(_after_fsync if event == "open" else _at_once)

    def _described(self, event: str, args: tuple[Any, ...]) -> str | None:
        """Return an effect in words: verb, path or method, and the content that takes its place or goes out."""
        if event == "os.rename":
            source, target = self._short(args[0]), self._short(args[1])
            return f"rename {source} -> {target}\n{_content(args[0])}"
        if event == "os.remove":
            return f"remove {self._short(args[0])}"
        if event == "open" and isinstance(args[0], str) and args[2] & WRITES:
            return f"{'append' if args[2] & os.O_APPEND else 'write'} {self._short(args[0])}"
        if event == "subprocess.Popen":
            return f"run {' '.join(map(str, args[1]))}"
        if event == "http.client.send":
            return f"send {bytes(args[1]).split(b' HTTP/')[0].decode(errors='replace')}"
        if event == "urllib.Request":
            return f"call {args[0].rpartition('/')[2]} {(args[1] or b'').decode()}"
        return None

    def _short(self, path: object) -> str:
        return os.fspath(path).removeprefix(self._home).lstrip("/")  # type: ignore[call-overload, no-any-return]


def _at_once(frame: FrameType, _event: str, _arg: object) -> None:
    """Die as soon as the thread is back from the effect, in code that is not ours."""
    if frame.f_code.co_filename != __file__:
        die()


def _after_fsync(_frame: FrameType, event: str, arg: object) -> None:
    """Die when what was opened has been written and is on disk."""
    if event == "c_return" and arg is os.fsync:
        die()


def die() -> NoReturn:
    """End this process as `kill -9` does: no handler runs, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL returned")


def _content(path: object) -> str:
    try:
        return Path(str(path)).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def main(arguments: list[str]) -> int:
    """Arm the hook, then become the bot."""
    home, moment, *rest = arguments
    sys.addaudithook(Executioner(home, Moment(**json.loads(moment))))
    from bot.__main__ import main as triage

    return triage(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
