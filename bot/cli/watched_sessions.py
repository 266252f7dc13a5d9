"""The sessions of one data directory, for the commands that list and change them."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.adapters.process.clocks import SystemClock, local_zone
from bot.cli.data_directory import environment_at, settings_at
from bot.cli.records import store_at
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES, Collection


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
