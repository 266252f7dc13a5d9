"""`triage`: chooses the command and imports nothing of the others; says for all of them what went wrong."""

from __future__ import annotations

import difflib
import os
import select
import sys
from argparse import ArgumentParser
from importlib import import_module
from types import ModuleType

from bot.cli.output import wrapped
from bot.errors import ConfigError, TriageError

COMMANDS = {
    "run": "start the bot",
    "init": "a few questions, then triage.yml and .env",
    "demo": "try it: a throw-away Slack, a real codebase, one click",
    "status": "what waits, what runs",
    "investigate": "look into one question here in the terminal",
    "metrics": "what is promised, measured; and messages to judge",
    "doctor": "is everything as it must be, and if not, what to do",
    "heartbeat": "sessions: list, switch, run, wake, and how the last beat went",
    "tiers": "a session's tasks: list, add, remove, move, and what is due",
    "pollinate": "checks that travel between sessions: list, accept, reject",
    "why": "what became of one message, from the rules to the reply",
    "verify": "look every citation of a thread up again, without a model",
    "replay": "today's rules over past events, and drafts; nothing is posted",
    "classify": "events.ndjson on stdin, classified events on stdout",
}
_MODULES = {"demo": "demo.run", "doctor": "bot.cli.doctor.command"}
"""Where a command lives, unless in bot.cli under its name; each has `main(argv)` and `parser()`."""


_READER_LEFT = 141
"""The exit code of a program that SIGPIPE ended, as shells know it."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 not understood or not configured."""
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_left():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's own flush at the end
        return _READER_LEFT


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        meant = f" Did you mean `triage {near[0]}`?" if near else ""
        _complain(f"triage: there is no command {name[:40]!r}.{meant}\n\n{_usage()}")
        return 2
    try:
        code: int = _module(name).main(rest)
    except ConfigError as error:
        _complain("triage: this has to be put right first:")
        for problem in error.problems:
            _complain(problem, lead="  - ")
        return 2
    except TriageError as error:
        _complain(f"triage: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is None:
            raise
        _complain(f"triage: cannot use {error.filename}: {error.strerror}; run this as the user who runs triage")
        return 1
    return code


def parser_of(name: str) -> ArgumentParser:
    """Return what reads a command's arguments; imports that command's module."""
    found: ArgumentParser = _module(name).parser()
    return found


def _module(name: str) -> ModuleType:
    return import_module(_MODULES.get(name, f"bot.cli.{name}"))


def _complain(text: str, *, lead: str = "") -> None:
    print(wrapped(text, lead=lead), file=sys.stderr)


def _reader_left() -> bool:
    """Whether nobody reads stdout any more, as after `| head`; another pipe that broke is an error like any."""
    stdout = select.poll()
    stdout.register(sys.stdout, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in stdout.poll(0))


def _usage() -> str:
    lines = [f"  {name:<11} {what}" for name, what in COMMANDS.items()]
    return "\n".join(["usage: triage <command> [options]", "", *lines, "", "triage <command> --help says more."])


if __name__ == "__main__":
    sys.exit(main())
