"""Wakes that are left for whoever schedules."""

from __future__ import annotations

from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.sessions.session_inbox import WakeBox
from tests.fakes import MemoryDocuments
from tests.tables import each_row


@each_row("is_shared, left", [(True, {"shop": frozenset({Wake.ON_DEMAND})}), (False, {})])
def test_a_wake_is_shared_only_where_another_replica_may_schedule(
    is_shared: bool, left: dict[str, frozenset[Wake]]
) -> None:
    """One process keeps it in the session's state alone."""
    box = WakeBox(MemoryDocuments(), is_shared=is_shared)
    box.share("shop", Wake.ON_DEMAND)
    assert box.left() == left
