"""The program `triage`: imports and runs the command that was typed, and prints what went wrong in any of them."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, NoReturn

import click

from bot.cli.options import VerbGroup, words_to_type
from bot.cli.output import terminal_words, wrapped
from bot.domain.text.sanitize import has_halves, storable
from bot.errors import ConfigError, InputError, TriageError
from bot.release import program_version

_SHARED = {
    "status": "bot.cli.health:command",
    "open": "bot.cli.reports:open_command",
    "investigate": "bot.cli.investigate:command",
    "why": "bot.cli.why:why_command",
    "metrics": "bot.cli.reports:metrics_command",
    "brief": "bot.cli.reports:brief_command",
    "pause": "bot.cli.control:pause_command",
    "resume": "bot.cli.control:resume_command",
    "notes": "bot.cli.control:notes_command",
    "approve-list": "bot.cli.reports:approve_list_command",
    "heartbeat": "bot.cli.sessions:heartbeat",
    "tiers": "bot.cli.sessions:tiers",
    "pollinate": "bot.cli.sessions:pollinate",
}
"""Where each command stands that Slack has too, in the order of its manual, which says what it does."""

_OWN = {
    "run": ("bot.cli.run:command", "start the bot"),
    "init": ("bot.cli.init:command", "ask five questions, then write triage.yml and .env"),
    "demo": ("demo.run:command", "try it: a temporary Slack, your code, one click"),
    "doctor": ("bot.cli.doctor.command:command", "check the installation; each problem comes with its fix"),
    "verify": ("bot.cli.why:verify_command", "check every citation of a thread again, without a model"),
    "migrate": (
        "bot.cli.migrate:command",
        "move all state into PostgreSQL and back, or to the form of an earlier release",
    ),
    "search": ("bot.cli.search:command", "rank the passages of a codebase for a text"),
    "backtest": ("bot.cli.backtest.command:command", "what it would have answered on a past channel, and was it right"),
    "classify": ("bot.cli.classify:command", "events or plain lines on stdin, classified events on stdout"),
}
"""Where each command of the terminal alone stands, and what it does."""

_FIRST = ("run", "init", "demo", "doctor")
COMMANDS = (*_FIRST, *_SHARED, *(name for name in _OWN if name not in _FIRST))
"""Every command in the order of lists; a module is imported when its command is typed."""

_IN_SLACK: Final = ("--arm", "--disarm")
"""Options of `/triage metrics` alone: they are on record under the name of an approver."""

GARBAGE_AFTER = 50_000
"""After so many new objects Python looks for garbage; its own 2,000 cost a tenth of the start."""

_READER_LEFT = 141
"""The exit code of a program that SIGPIPE ended, as shells know it."""


class _Commands(VerbGroup):
    """Every command."""

    def help_of(self, verb: str) -> str:
        return purpose_of(verb)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is Click's
        return list(COMMANDS)

    def near(self, word: str, known: Sequence[str]) -> Sequence[str]:
        from bot.domain.command_specs import REMOVED  # here: no other command waits for its tables

        removed = {**REMOVED, "schema": "migrate --schema"}
        return (removed[word],) if word in removed else super().near(word, known)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return command_of(name) if name in COMMANDS else None


_TRIAGE = _Commands(
    "triage",
    epilog="triage <command> --help says more; triage --version says which release this is.",
    context_settings={"terminal_width": 80, "help_option_names": ["-h", "--help"]},
)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 not understood or not configured."""
    if argv is None:
        sys.excepthook = _crashed
        threading.excepthook = _thread_crashed
        gc.set_threshold(GARBAGE_AFTER)
        atexit.register(gc.freeze)  # looking for garbage at the end takes as long as reading the state
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for some takes a tenth of the start
        _open_streams()
        if sys.argv[1:2] == ["run"]:
            os.umask(0o077)  # also what libraries and child processes of the bot write is for the owner's eyes only
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            sys.stdout.flush()
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        if not is_full and not (isinstance(error, BrokenPipeError) and _reader_left()):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's own flush at the end
        if is_full:
            _complain(f"triage: cannot write what was found: {error.strerror}; free space and run it again")
        return 1 if is_full else _READER_LEFT


def _open_streams() -> None:
    """Put an empty file where a standard stream was closed, and write escapes for what the terminal's letters lack."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # by number: the lowest free one is taken
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - lives as the process
        elif mode == "w" and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="backslashreplace")


def _crashed(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """Print what Python would of an error that nobody expected, without secrets: others' words may repeat a key."""
    from bot.config.environment import read_environment  # here: no command needs it to start
    from bot.domain.secrets import redact

    known: frozenset[str] = frozenset()
    with suppress(Exception):
        known = read_environment(dotenv=Path(".env")).secrets()
    print(redact("".join(traceback.format_exception(kind, error, trace)), known), end="", file=sys.stderr)


def _thread_crashed(thread: threading.ExceptHookArgs) -> None:
    if thread.exc_type is not SystemExit:
        _crashed(thread.exc_type, thread.exc_value, thread.exc_traceback)


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["--version"]:
        print(f"triage {program_version()}")
        return 0
    if arguments[:1] == ["run"]:  # the bot takes SIGHUP itself before it reads triage.yml; until then it means nothing
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):  # and these once it is built
            signal.signal(number, _end_at_once)
    if arguments[:1] == ["help"] and arguments[1:2] and arguments[1] in _SHARED:
        print(_help_on(arguments[1:]))
        return 0
    if not arguments or arguments[0] == "help":
        arguments = [*arguments[1:], "--help"]
    try:
        _check_whole(arguments)
        with _TRIAGE.make_context("triage", list(arguments)) as context:
            code: int = _TRIAGE.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.UsageError as error:
        return _misread(error)
    except ConfigError as error:
        _complain("triage: fix this first:")
        for problem in error.problems:
            _complain(problem, lead="  - ")
        return 2
    except TriageError as error:
        _complain(terminal_words(f"triage: {error}"))
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is None:
            raise
        _complain(f"triage: cannot use {error.filename}: {error.strerror}; run this as the user who runs triage")
        return 1
    return code


def _help_on(words: Sequence[str]) -> str:
    """Return what Slack says of a command, too, and where its options stand."""
    from bot.cli.output import show
    from bot.domain.answers import help_on

    return f"{show(help_on(words))}\nIts options: triage {words[0]} --help"


def _end_at_once(number: int, _frame: FrameType | None) -> NoReturn:
    """End the process as a kill does, with the exit code of an ordinary end by a signal.

    Raised in the middle of an import or a check of settings, KeyboardInterrupt would come out as another error.
    """
    os._exit(128 + number)


def _check_whole(arguments: list[str]) -> None:
    """Refuse what was not typed in UTF-8, whose halves of characters can be neither stored nor sent."""
    broken = next((word for word in arguments if has_halves(word)), None)
    if broken is not None:
        raise InputError(f"{storable(broken)!r} is no UTF-8 text; set the terminal to UTF-8 and type it again")


def _misread(error: click.UsageError) -> int:
    """Say how the command is meant, what was wrong, and where more is said."""
    words = words_to_type(error.ctx) if error.ctx else "triage"
    if error.ctx:
        print(error.ctx.get_usage(), file=sys.stderr)
    said = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name in _IN_SLACK:
        said = f"this is for Slack: an approver types `/triage metrics {error.option_name}` there"
    _complain(f"{words}: {said}")
    _complain(f"Next: {words} --help")
    return 2


def purpose_of(name: str) -> str:
    """Return what a command does; of one that Slack has too as its manual says it."""
    if name in _OWN:
        return _OWN[name][1]
    from bot.domain.command_specs import manual  # here: only lists of commands wait for it

    return manual()[name].does


def command_of(name: str) -> click.Command:
    """Return a command; imports its module."""
    place = _SHARED[name] if name in _SHARED else _OWN[name][0]
    module, _, attribute = place.partition(":")
    found: click.Command = getattr(import_module(module), attribute)
    return found


def _complain(text: str, *, lead: str = "") -> None:
    print(wrapped(text, lead=lead), file=sys.stderr)


def _reader_left() -> bool:
    """Whether nobody reads stdout any more, as after `| head`; another pipe that broke is an error like any."""
    stdout = select.poll()
    stdout.register(sys.stdout, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in stdout.poll(0))


if __name__ == "__main__":
    sys.exit(main())
