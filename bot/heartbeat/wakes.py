"""What a beat does with the wakes that led to it, when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.domain.beats import Wake, strongest
from bot.domain.session import SessionState
from bot.ports import SessionStore


def take_wakes(store: SessionStore, payload: Mapping[str, Any]) -> tuple[Wake, datetime | None]:
    """Return why the beat of a job starts, and its slot; every wake that waited is taken with it.

    The job's own wake counts too: after a crash it is all that is left. A manual wake has no slot.
    """
    waiting: list[Wake] = []

    def taken(state: SessionState) -> SessionState:
        waiting[:] = state.wakes
        return state.evolve(wakes=())

    store.save(payload["beat"], taken)
    slot = payload.get("slot")
    own = Wake(payload.get("wake") or (Wake.INTERVAL if slot else Wake.ON_DEMAND))
    return strongest([own, *waiting]), datetime.fromisoformat(slot) if slot else None
