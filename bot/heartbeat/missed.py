"""The dead man's check: a session whose due beats neither ran nor were refused for a reason. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from bot.domain.hours import ActiveHours
from bot.domain.moments import utc_text
from bot.domain.session import SessionState

ENOUGH: Final = 2
LONGEST_BEAT: Final = timedelta(minutes=20)
"""A beat may take longer than its session's interval; until then its silence is no reason to worry."""


def missed_slots(state: SessionState, slot: datetime, every: timedelta, hours: ActiveHours) -> tuple[datetime, ...]:
    """Return the latest two slots before `slot` that nothing answered inside the active hours, oldest first.

    A session that was never seen before has missed nothing, nor has one that answered a moment ago.
    """
    answered = last_answer(state)
    if answered is not None and slot - answered < LONGEST_BEAT:
        return ()
    missed: list[datetime] = []
    earlier = slot - every
    while answered is not None and earlier > answered and len(missed) < ENOUGH:
        if hours.contains(earlier):
            missed.insert(0, earlier)
        earlier -= every
    return tuple(missed)


def is_report_due(state: SessionState, missed: tuple[datetime, ...]) -> bool:
    """Whether the owner has to be told, which happens once for each silence."""
    answered = last_answer(state)
    told = state.missed_reported_at
    return len(missed) >= ENOUGH and (told is None or answered is None or told <= answered)


def report(session_id: str, missed: tuple[datetime, ...]) -> str:
    """Return what the owner is told."""
    times = " and ".join(map(utc_text, missed))
    return (
        f"{session_id} missed its beats of {times}: nothing ran and nothing refused them. "
        f"See /triage heartbeat why {session_id} and triage status."
    )


def last_answer(state: SessionState) -> datetime | None:
    """Return when a beat last ran or was refused for a reason."""
    times = [at for at in (state.last_run, state.answered_at) if at is not None]
    return max(times, default=None)
