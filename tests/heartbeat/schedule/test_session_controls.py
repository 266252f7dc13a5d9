"""The list of sessions, of which one may not be readable."""

from __future__ import annotations

from pathlib import Path

from bot.heartbeat.schedule.session_controls import rows
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import BeatLog, SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from tests.fakes import FakeClock, FakeWorkspace, MemoryJournal, MemoryStore, in_memory
from tests.heartbeat.clockwork import session_settings


def test_a_session_that_cannot_be_read_is_listed_with_why(tmp_path: Path) -> None:
    """The others stand there as ever."""
    disk, clock = MemoryStore(), FakeClock()
    sessions = SessionRegistry({name: session_settings(tmp_path) for name in ("shop", "web")}, in_memory(OVERRIDES))
    disk.documents.unreadable = {"shop"}
    zones = OwnerZones(FakeWorkspace(), clock, local="UTC")
    shop, web = rows(sessions, SessionMemory(disk), zones, BeatLog(MemoryJournal()), clock.now())
    assert shop.notes[0] == "no heartbeats: cannot read sessions/shop: Permission denied; fix its owner"
    assert not any("does not beat" in note for note in web.notes)
