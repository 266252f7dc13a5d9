"""`triage`: chooses the command and imports nothing of the others."""

from __future__ import annotations

import difflib
import sys
from argparse import ArgumentParser
from importlib import import_module
from types import ModuleType

from bot.errors import ConfigError, TriageError

COMMANDS = {
    "run": "start the bot",
    "init": "a few questions, then triage.yml and .env",
    "demo": "try it: a throw-away Slack, a real codebase, one click",
    "status": "what waits, what runs",
    "investigate": "look into one question here in the terminal",
    "metrics": "what is promised, measured; and messages to judge",
    "doctor": "is everything as it must be, and if not, what to do",
    "heartbeat": "sessions: list, switch, run, wake, and why the last beat went as it did",
    "tiers": "a session's tasks: list, add, remove, move, and what is due",
    "pollinate": "checks that travel between sessions: look for them, list, accept, reject",
    "why": "what became of one message, from the rules to the reply",
    "verify": "look every citation of a thread up again, without a model",
    "replay": "today's rules over past events, and drafts; nothing is posted",
    "classify": "events.ndjson on stdin, classified events on stdout",
}
_MODULES = {"demo": "demo.run"}
"""Where a command lives, unless in bot.cli under its name; each has `main(argv)` and `parser()`."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 not understood or not configured."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        print(
            f"triage: there is no command {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""), file=sys.stderr
        )
        print(_usage(), file=sys.stderr)
        return 2
    try:
        code: int = _module(name).main(rest)
    except ConfigError as error:
        print("triage: this has to be put right first:", file=sys.stderr)
        for problem in error.problems:
            print(f"  - {problem}", file=sys.stderr)
        return 2
    except TriageError as error:
        print(f"triage: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def parser_of(name: str) -> ArgumentParser:
    """Return what reads a command's arguments; imports that command's module."""
    found: ArgumentParser = _module(name).parser()
    return found


def _module(name: str) -> ModuleType:
    return import_module(_MODULES.get(name, f"bot.cli.{name}"))


def _usage() -> str:
    lines = [f"  {name:<11} {what}" for name, what in COMMANDS.items()]
    return "\n".join(["usage: triage <command> [options]", "", *lines, "", "triage <command> --help says more."])


if __name__ == "__main__":
    sys.exit(main())
