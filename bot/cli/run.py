"""`triage run`: the bot, until it is told to stop.

Log lines on stderr: what happened and to what; the process's own secrets are taken out of every one.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from types import FrameType
from typing import Final

import click

from bot.adapters.storage.files.atomic_write import make_folder, probe_folder
from bot.agent.git.git_repo import GitRepo
from bot.app import App
from bot.cli.options import config_option
from bot.composition.storage_engine import look_at_database
from bot.config.environment import Environment, read_environment
from bot.config.home import find_config
from bot.config.settings import Settings, load_settings
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.errors import Away, CodebaseUnreadable, ConfigError
from bot.ports.system import Role
from bot.release import program_version
from handlers.answers import announce
from handlers.transport.http_app import EVENTS_PATH

log = logging.getLogger(__name__)

FIELD_CHARS: Final = 200
_OWN: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "action"}
"""What is no field of a log call; `action` names the step for tests and says nothing the message does not."""

WAKE_S = 0.5
ENDING = {signal.SIGTERM, signal.SIGINT}
ROOM_BYTES = 1024 * 1024
LOOK_S = 2.0
STOP_LIMIT_S = 38.0
"""Longer than Slack is waited for, and less than the supervisors of docs/install.md grant."""


class _Scrubbing(logging.Formatter):
    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        self._secrets = secrets

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line with the call's `extra` fields behind it, such as the thread or the session."""
        fields = {name: value for name, value in vars(record).items() if name not in _OWN}
        shown = ", ".join(f"{name}={self._shortened(str(value))}" for name, value in fields.items())
        return super().formatMessage(record) + (f" ({shown})" if shown else "")

    def _shortened(self, value: str) -> str:
        return one_line(redact(value, self._secrets), FIELD_CHARS)

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line, traceback included, redacted as a whole."""
        return redact(super().format(record), self._secrets)


def log_to_stderr(*, verbose: bool, secrets: Collection[str], steps: bool = True) -> None:
    """Log warnings, and our own steps unless the program narrates itself (`steps=False`); everything with `verbose`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Scrubbing(secrets))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("psycopg.pool").setLevel(logging.NOTSET if verbose else logging.ERROR)  # tells of each try
    for name in ("bot", "handlers"):
        level = logging.DEBUG if verbose else logging.INFO if steps else logging.WARNING
        logging.getLogger(name).setLevel(level)


@click.command("run", help="Start the bot.")
@config_option
@click.option(
    "--only",
    type=click.Choice([Role.EDGE.value, Role.WORK.value]),
    help="edge: hear Slack and take clicks; work: investigate and post. Needs TRIAGE_DATABASE_URL",
)
@click.option("--verbose", is_flag=True, help="log every step")
def command(config: Path | None, only: str | None, verbose: bool) -> int:
    """Start, say so, and stop cleanly on SIGTERM or Ctrl-C; exit code 0. A second one ends the process at once.

    SIGHUP reads triage.yml again (see bot/runtime/config_reload.py); while the bot is built it waits. Until the bot is
    built SIGTERM and Ctrl-C end the process at once: exit code 143 or 130.
    """
    signals = SignalQueue()
    signals.keep(signal.SIGHUP)
    environment = read_environment(dotenv=Path(".env"))
    log_to_stderr(verbose=verbose, secrets=environment.secrets())
    config = find_config(config, environment.home)
    settings = load_settings(config)
    _wait_for_stores(settings, environment)
    bot = App(settings, environment, role=Role(only or Role.ALL))
    for handler in logging.getLogger().handlers:
        handler.addFilter(bot.outage)
    for number in ENDING:
        signal.signal(number, lambda number, _: _stop_once(signals, number))
    bot.start()
    print(f"triage {program_version()} {_watching(settings)}")
    if bot.connection.address is not None:
        print(
            f"listening on {bot.connection.address}; behind your TLS proxy Slack's Request URL is https://<host>{EVENTS_PATH}."
        )
    print(f"investigator: {bot.team.questions.models.described}.")
    for codebase, repo in bot.process.code.repos.items():
        print(_standing(codebase, repo))
    print("`triage status` says how far the code is indexed. Ctrl-C stops.")
    sys.stdout.flush()
    while not ENDING & (came := signals.wait(WAKE_S)):
        if signal.SIGHUP in came:
            bot.reload(lambda: load_settings(config))
    print("stopping: finishing running work …", flush=True)
    stop_within(bot.stop, STOP_LIMIT_S)
    print("stopped; nothing was lost.", flush=True)
    return 0


def stop_within(stop: Callable[[], object], limit_s: float) -> None:
    """Call `stop`; where that takes longer, end the process with exit code 1, as if it were killed."""

    def end() -> None:
        log.error("not stopped within %g s, so ended; the next start takes up what is left", limit_s)
        os._exit(1)

    limit = threading.Timer(limit_s, end)
    limit.daemon = True
    limit.start()
    stop()
    limit.cancel()


def _watching(settings: Settings) -> str:
    """Return what is watched and where drafts go, a line for each team."""
    lines = []
    for name, team in settings.by_team().items():
        watched = ", ".join(f"#{chat.name or chat.chat_id}" for chat in team.watched_chats) or "mentions only"
        whose = f"for {name} " if settings.teams else ""
        lines.append(f"is {whose}watching {watched}; drafts go to {team.ops_channel}.")
    return "\n  ".join(lines)


def _standing(name: str, code: GitRepo) -> str:
    try:
        return f"codebase {f'{name}, ' if name else ''}{code.root} at {code.head()[:12]}."
    except (CodebaseUnreadable, ConfigError) as error:
        return f"{error}. {'It is left out of answers' if name else 'Questions wait'} until then."


def _stop_once(signals: SignalQueue, number: int) -> None:
    """Ask for an orderly stop, and let the kernel carry out the next signal, whatever the process is doing then."""
    signals.put(number)
    for each in ENDING:
        signal.signal(each, signal.SIG_DFL)


def _wait_for_stores(settings: Settings, environment: Environment) -> None:
    """Return once the data directory takes writes and the database answers.

    Ending instead would only have a supervisor start us again.
    """
    told = False
    while True:
        try:
            probe_folder(make_folder(environment.home), ROOM_BYTES)
            look_at_database(environment)
        except Away as error:
            if not told:
                log.error("triage cannot start yet: %s", error, extra={"action": "start_waits"})
                announce(
                    settings.ops_channel, environment, f"triage cannot start yet: {error}. It starts as soon as it can."
                )
            told = True
        else:
            return
        time.sleep(LOOK_S)


class SignalQueue:
    """Keeps signals until `wait` takes them.

    A handler runs in the middle of anything the main thread does, another handler included. `threading.Event.set`
    would wait there for a lock that its own thread holds, and the process would never answer again.
    `queue.SimpleQueue.put` may be called at any moment (docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
    """

    def __init__(self) -> None:
        self._came: queue.SimpleQueue[int] = queue.SimpleQueue()

    def keep(self, *numbers: int) -> None:
        """Keep these from now on."""
        for number in numbers:
            signal.signal(number, self.put)

    def put(self, number: int, _frame: FrameType | None = None) -> None:
        """Add one; a signal handler."""
        self._came.put(number)

    def wait(self, timeout_s: float) -> set[int]:
        """Return what came, each number once; nothing after `timeout_s`.

        Keep it short: a signal that another thread received does not wake the main thread.
        """
        came = set()
        try:
            came.add(self._came.get(timeout=timeout_s))
            while True:
                came.add(self._came.get_nowait())
        except queue.Empty:
            return came
