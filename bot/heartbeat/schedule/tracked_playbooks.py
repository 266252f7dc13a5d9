"""Names the sessions whose HEARTBEAT.md git tracks, and tells each owner once: their beats do not run."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.errors import TriageError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.schedule.admission import TRACKED
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports import Clock, SessionStore

log = logging.getLogger(__name__)


class TrackedPlaybooks:
    """Looks at every enabled session; `alert_owner` raises where the owner is to be told later."""

    def __init__(
        self, sessions: SessionRegistry, store: SessionStore, clock: Clock, alert_owner: Callable[[Session, str], None]
    ) -> None:
        self._sessions, self._store, self._clock, self._alert_owner = sessions, store, clock, alert_owner

    def name(self) -> None:
        """Log, at a start, whose playbook is tracked; one that is allowed to be is named too."""
        for session in self._sessions.all():
            if session.beat.enabled and playbook_of(session).is_tracked():
                log.warning("%s: %s", session.id, TRACKED, extra={"action": "playbook_tracked", "session": session.id})

    def tick(self) -> None:
        """Tell who is to be told; what fails for one session is logged and tried again, and concerns no other."""
        for session in self._sessions.all():
            try:
                self._look(session)
            except (TriageError, OSError):
                log.exception(
                    "a playbook was not looked at", extra={"action": "playbook_unseen", "session": session.id}
                )

    def _look(self, session: Session) -> None:
        if not session.beat.enabled:
            return
        told_at = self._store.load(session.id).tracked_told_at
        is_refused = not session.beat.allow_tracked_playbook and playbook_of(session).is_tracked()
        if not is_refused:
            if told_at is not None:
                self._store.save(session.id, lambda state: state.evolve(tracked_told_at=None))
        elif told_at is None:
            self._alert_owner(session, f"{session.id} does not beat: {TRACKED}. It goes on by itself then.")
            now = self._clock.now()
            self._store.save(session.id, lambda state: state.evolve(tracked_told_at=now))
