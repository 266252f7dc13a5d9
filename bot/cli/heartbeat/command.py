"""`triage heartbeat …`: what `/triage heartbeat` does, from the data directory; works beside a running bot.

Switches are read by the bot at its next tick; `run`, `wake` and `assign` leave a wake that the bot finds, or that
waits for it. Also the sessions of one data directory, for all commands that list and change them.
"""

from __future__ import annotations

import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from bot.adapters.process.clocks import SystemClock, local_zone
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.arguments import prints
from bot.cli.data_directory import environment_at, settings_at, store_at
from bot.cli.options import json_option
from bot.cli.verb_group import VerbGroup
from bot.config.environment import process_home
from bot.domain.answers import Answer
from bot.domain.commands.command_specs import MANUAL, command_names
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import ChangedBy
from bot.heartbeat.schedule.session_answers import SessionAnswers
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox, WakeBox
from bot.heartbeat.sessions.session_registry import BeatLog, SessionMemory, SessionRegistry
from bot.ports.collections import HEARTBEATS, HOME, OVERRIDES, Collection

NAME: Final = "heartbeat"
_MORE: Final = {"every": "interval", "assign": "text"}
"""What follows the session, by the verb."""


class WatchedSessions:
    """The sessions of one data directory and what is stored of them, without the bot and beside it.

    Raises ConfigError where triage.yml or the environment cannot be used.
    """

    def __init__(self, home: Path | None, config: Path | None) -> None:
        self.environment = environment_at(home)
        self.home, self.clock = self.environment.home, SystemClock()
        self.storage = store_at(self.home, is_reader=False)
        self.documents = self.storage.documents
        self.overrides = Collection(self.documents, OVERRIDES, on_damage=report_damage)
        self.registry = SessionRegistry(settings_at(config, self.home).sessions, self.overrides)
        self.states = SessionMemory(self.storage, on_damage=report_damage)
        self.zones = OwnerZones(None, self.clock, local=local_zone(self.environment.variables))


def report_damage(where: str) -> None:
    """Say on stderr that a file could not be read and where it lies now."""
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)


class HeartbeatCli(WatchedSessions):
    """The sessions' beats and switches."""

    def __init__(self, home: Path | None, config: Path | None) -> None:
        super().__init__(home, config)
        self.by = ChangedBy(id="terminal", name=getpass.getuser(), at=datetime.now(UTC))
        self.answers = SessionAnswers(
            sessions=self.registry,
            store=self.states,
            zones=self.zones,
            record=BeatLog(self.storage.journal(HEARTBEATS)),
            controls=SessionControls(self.registry, self.overrides, self.drop, cancel=lambda _: False),
            inbox=SessionInbox(self.registry, self.states, self.drop, self.environment.secrets()),
        )

    def drop(self, session_id: str, wake: Wake) -> str:
        """Leave a wake for the bot; return what becomes of it."""
        WakeBox(self.documents).drop(session_id, wake)
        process = FileLeases(process_home(self.home)).holder(HOME)
        if process is None:
            return f"triage is not running on {self.home}; the beat of {session_id} starts when it does: `triage run`"
        return f"triage (process {process}) starts it in a few seconds. Next: `triage heartbeat why {session_id}`"


@click.group(NAME, cls=VerbGroup, help="Sessions and their beats.")
def command() -> None:
    """Hold the verbs."""


@command.command("list", help=MANUAL["heartbeat list"].does)
@json_option
@prints(HeartbeatCli)
def list_sessions(bench: HeartbeatCli, as_json: bool) -> Answer:  # noqa: ARG001 - `prints` reads it
    """Return the sessions."""
    return bench.answers.listed(bench.by.at)


def _add_verb(verb: str, does: str) -> None:
    """Add a verb that is about one session."""

    def answer(bench: HeartbeatCli, session: str, words: tuple[str, ...] = (), *, as_json: bool = False) -> Answer:  # noqa: ARG001
        return bench.answers.answer(verb, session.lower(), " ".join(words), bench.by)

    run = prints(HeartbeatCli)(answer)
    if verb in ("log", "why"):
        run = json_option(run)
    if verb in _MORE:
        run = click.argument("words", nargs=-1, required=True, metavar=_MORE[verb].upper())(run)
    command.command(verb, help=does)(click.argument("session")(run))


for _verb in command_names(NAME):
    if _verb != "list":
        _add_verb(_verb, MANUAL[f"{NAME} {_verb}"].does)
_add_verb("wake", "a beat now, recorded as asked by a program")
