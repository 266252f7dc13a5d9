"""Tells owners of beats that never came: found while sessions are looked at, told after, for the chat may be slow."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from bot.domain.session import SessionState
from bot.errors import TriageError
from bot.heartbeat.missed import is_report_due, missed_slots, report
from bot.heartbeat.session import Session
from bot.heartbeat.zones import Zones
from bot.ports import SessionStore

log = logging.getLogger(__name__)

AlertOwner = Callable[[Session, str], None]
"""Tells a session's owner; raises ProviderError where that cannot be done now."""


class Silence:
    """The sessions found silent and not yet reported."""

    def __init__(self, store: SessionStore, zones: Zones, alert_owner: AlertOwner) -> None:
        self._store, self._zones, self._alert_owner = store, zones, alert_owner
        self._found: list[tuple[Session, str]] = []

    def listen(self, session: Session, state: SessionState, slot: datetime) -> None:
        """Note a session whose two beats before `slot` never came."""
        missed = missed_slots(state, slot, session.beat.every, self._zones.hours(session))
        if session.beat.enabled and is_report_due(state, missed):
            self._found.append((session, report(session.id, missed)))

    def tell(self, now: datetime) -> None:
        """Tell the owners, once for each silence; who could not be told is told at the next slot."""
        found, self._found = self._found, []
        for session, text in found:
            try:
                self._alert_owner(session, text)
                self._store.save(session.id, lambda state: state.evolve(missed_reported_at=now))
            except TriageError:
                log.exception("an owner could not be told", extra={"action": "silence_untold", "session": session.id})
