"""`triage heartbeat …`: what `/triage heartbeat` does, from the data directory; works beside a running bot.

Switches are read by the bot at its next tick; `run`, `wake` and `assign` leave a wake that the bot finds, or that
waits for it. Also the sessions of one data directory, for all commands that list and change them.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from bot.adapters.process.clocks import SystemClock, local_zone
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.arguments import arguments_of, prints, words_of
from bot.cli.data_directory import environment_at, settings_at, store_at
from bot.cli.options import json_option
from bot.cli.verb_group import VerbGroup
from bot.config.environment import process_home
from bot.domain.answers import Answer
from bot.domain.commands.command_specs import NOTHING, CommandSpec, subcommands
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import ChangedBy
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.sessions.session_registry import BeatLog, Owners, SessionMemory, SessionRegistry, WakeBox
from bot.ports.collections import HEARTBEATS, HOME, OVERRIDES, Collection

NAME: Final = "heartbeat"


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
        self.zones = Owners(None, self.clock, local=local_zone(self.environment.variables))


def report_damage(where: str) -> None:
    """Say on stderr that a file could not be read and where it lies now."""
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)


class HeartbeatCli(WatchedSessions):
    """The sessions' beats and switches."""

    def __init__(self, home: Path | None, config: Path | None) -> None:
        super().__init__(home, config)
        self.by = ChangedBy(id="terminal", name=getpass.getuser(), at=datetime.now(UTC))
        self.controls = SessionControls(
            sessions=self.registry,
            store=self.states,
            zones=self.zones,
            record=BeatLog(self.storage.journal(HEARTBEATS)),
            overrides=self.overrides,
            wakes=WakeBox(self.documents),
            wake=self.drop,
            cancel=lambda _: False,
            known_secrets=self.environment.secrets(),
        )

    def drop(self, session_id: str, wake: Wake) -> str:
        """Leave a wake for the bot; return what becomes of it."""
        self.controls.wakes.drop(session_id, wake)
        process = FileLeases(process_home(self.home)).holder(HOME)
        if process is None:
            return f"triage is not running on {self.home}; the beat of {session_id} starts when it does: `triage run`"
        return f"triage (process {process}) starts it in a few seconds. Next: `triage heartbeat why {session_id}`"


@click.group(NAME, cls=VerbGroup, help="Sessions and their beats.")
def command() -> None:
    """Hold the verbs."""


def _add_verb(entry: CommandSpec) -> None:
    """Add a verb; those that tell of sessions and change nothing print JSON, too."""
    verb = entry.path.removeprefix(f"{NAME} ")

    def list_or_do(bench: HeartbeatCli, /, session: str = "", as_json: bool = False, **given: Sequence[str]) -> Answer:  # noqa: ARG001
        if verb == "list":
            return bench.controls.listed(bench.by.at)
        return bench.controls.answer(verb, session.lower(), " ".join(words_of(given)), bench.by)

    run = command.command(verb, help=entry.does)(prints(HeartbeatCli, of_each_team=verb == "list")(list_or_do))
    run.params += arguments_of(entry)
    if entry.changes == NOTHING:
        json_option(run)


for _entry in subcommands(NAME):
    _add_verb(_entry)
