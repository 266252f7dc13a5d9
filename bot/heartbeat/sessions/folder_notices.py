"""Tells the owner of a session once that its folder is missing, and notes when it is back. Other sessions go on."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.errors import TriageError
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports import Clock, SessionStore

log = logging.getLogger(__name__)


class Folders:
    """Looks at the folder of every enabled session; `alert_owner` raises where the owner is to be told later."""

    def __init__(
        self, sessions: SessionRegistry, store: SessionStore, clock: Clock, alert_owner: Callable[[Session, str], None]
    ) -> None:
        self._sessions, self._store, self._clock, self._alert_owner = sessions, store, clock, alert_owner

    def tick(self) -> None:
        """Look once; what fails for one session is logged and looked at again, and concerns no other."""
        for session in self._sessions.all():
            try:
                self._look(session)
            except (TriageError, OSError):
                log.exception("a folder was not looked at", extra={"action": "folder_unseen", "session": session.id})

    def _look(self, session: Session) -> None:
        told_at = self._store.load(session.id).folder_missing_told_at
        if session.cwd.is_dir():
            if told_at is not None:
                self._store.save(session.id, lambda state: state.evolve(folder_missing_told_at=None))
                log.info("a session's folder is back", extra={"action": "folder_back", "session": session.id})
        elif told_at is None and session.beat.enabled:
            self._alert_owner(
                session,
                f"{session.id} does not beat: its folder {session.cwd} is not there. Put it back, or correct "
                f"sessions.{session.id}.cwd in triage.yml; it goes on by itself then. Other sessions are not affected.",
            )
            now = self._clock.now()
            self._store.save(session.id, lambda state: state.evolve(folder_missing_told_at=now))
