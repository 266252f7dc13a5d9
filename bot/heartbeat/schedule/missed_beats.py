"""Tells owners of beats that never came: due, and neither run nor refused for a reason.

Found while sessions are looked at, told after that, for the chat may be slow.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from bot.domain.heartbeats.session_state import SessionState
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import utc_text
from bot.errors import TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import Session, SessionMemory

ENOUGH: Final = 2
LONGEST_BEAT: Final = timedelta(minutes=20)
"""A beat may take longer than its session's interval; until then its silence is no reason to worry."""


log = logging.getLogger(__name__)


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


def missed_beat_text(session_id: str, missed: tuple[datetime, ...]) -> str:
    """Return what the owner is told."""
    times = " and ".join(map(utc_text, missed))
    return (
        f"{session_id} missed its heartbeats at {times}: they did not run, and no reason was recorded. "
        f"See /triage heartbeat why {session_id} and triage status."
    )


def last_answer(state: SessionState) -> datetime | None:
    """Return when a beat last ran or was refused for a reason."""
    times = [at for at in (state.last_run, state.answered_at) if at is not None]
    return max(times, default=None)


class MissedBeatAlerts:
    """The sessions found silent and not yet reported."""

    def __init__(self, store: SessionMemory, zones: OwnerZones, alerts: AlertRouter) -> None:
        self._store, self._zones, self._alerts = store, zones, alerts
        self._found: list[tuple[Session, str]] = []

    def check_silence(self, session: Session, state: SessionState, slot: datetime) -> None:
        """Note a session whose two beats before `slot` never came."""
        missed = missed_slots(state, slot, session.beat.every, self._zones.hours(session))
        if session.beat.enabled and is_report_due(state, missed):
            self._found.append((session, missed_beat_text(session.id, missed)))

    def tell_owners(self, now: datetime) -> None:
        """Tell the owners, once for each silence; who could not be told is told at the next slot."""
        found, self._found = self._found, []
        for session, text in found:
            try:
                self._alerts.tell_owner_or_ops(session, text)
                self._store.save(session.id, lambda state: state.evolve(missed_reported_at=now))
            except TriageError:
                log.exception("an owner could not be told", extra={"action": "silence_untold", "session": session.id})
