"""The list of sessions: how each stands, and one that cannot be read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Envelope, Indicator, Wake
from bot.domain.heartbeats.session_state import Failures
from bot.heartbeat.session_registry import BeatLog, Owners, SessionMemory, SessionRegistry
from bot.heartbeat.session_rows import SessionStatus, rows
from bot.ports.collections import OVERRIDES
from tests.fakes import FakeClock, FakeWorkspace, MemoryJournal, MemoryStore, in_memory
from tests.heartbeat.clockwork import session_settings
from tests.tables import each_row


def test_a_session_that_cannot_be_read_is_listed_with_why(tmp_path: Path) -> None:
    """The others stand there as ever."""
    disk, clock = MemoryStore(), FakeClock()
    sessions = SessionRegistry({name: session_settings(tmp_path) for name in ("shop", "web")}, in_memory(OVERRIDES))
    disk.documents.unreadable = {"shop"}
    zones = Owners(FakeWorkspace(), clock, local="UTC")
    shop, web = rows(sessions, SessionMemory(disk), zones, BeatLog(MemoryJournal()), clock.now())
    assert shop.notes[0] == "no heartbeats: cannot read sessions/shop: Permission denied; fix its owner"
    assert not any("does not beat" in note for note in web.notes)


OK, ALERT, ERROR, NONE = Indicator.OK, Indicator.ALERT, Indicator.ERROR, Indicator.NONE


@each_row(
    "settings, shown, is_open, is_paused, says",
    [
        ({}, None, False, False, "new"),
        ({}, None, True, False, "alert"),
        ({}, OK, False, False, "ok"),
        ({}, OK, True, False, "alert"),
        ({}, ALERT, True, False, "alert"),
        ({}, ALERT, False, False, "ok"),
        ({}, NONE, False, False, "new"),
        ({}, NONE, True, False, "alert"),
        ({}, ERROR, True, False, "error"),
        ({}, ERROR, False, True, "paused"),
        ({"enabled": False}, ALERT, True, True, "off"),
        ({"visibility": {"use_indicator": False}}, OK, True, False, "on"),
    ],
)
def test_one_word_says_how_a_session_stands(
    tmp_path: Path, settings: dict[str, Any], shown: Indicator | None, is_open: bool, is_paused: bool, says: str
) -> None:
    """With an open finding it is never ok, whatever its last beat said; what was closed since then is."""
    clock, disk, record = FakeClock(), MemoryStore(), BeatLog(MemoryJournal())
    now, store = clock.now(), SessionMemory(disk)
    finding = OpenFinding(key="k", task="t", text="red", first_at=now, last_at=now)
    failures = Failures(key="x", count=5, paused_until=now + timedelta(hours=1)) if is_paused else Failures()
    store.save("shop", lambda state: state.evolve(findings={"k": finding} if is_open else {}, failures=failures))
    if shown is not None:
        cancelled = {"result": BeatResult.SKIPPED, "step": BeatStep.CANCELLED, "why": "cancelled"}
        failed = {"result": BeatResult.FAILED if shown is ERROR else BeatResult.OK_EMPTY}
        ended = {"indicator": shown, **(cancelled if shown is NONE else failed)}
        record.append(Envelope(ts=now, session_id="shop", workspace_dir="/x", reason=Wake.INTERVAL, **ended))
    sessions = SessionRegistry({"shop": session_settings(tmp_path, **settings)}, in_memory(OVERRIDES))
    zones = Owners(FakeWorkspace(), clock, local="UTC")
    [row] = rows(sessions, store, zones, record, now)
    assert row.status is SessionStatus(says)
    assert (row.next_at is None) is (says in ("off", "paused"))
