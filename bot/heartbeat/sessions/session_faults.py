"""Tells the owner of a session once what it is broken by, and notes when that is over. Other sessions go on.

Looked for are a folder that is missing, and alerts that are to go where this process cannot send anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator

from bot.config.session_settings import unreachable
from bot.errors import TriageError
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports import Clock, SessionStore

log = logging.getLogger(__name__)


class SessionFaults:
    """Looks at every enabled session; `alert_owner` raises where the owner is to be told later.

    `surfaces` are the names of the ways to reach people.
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionStore,
        clock: Clock,
        alert_owner: Callable[[Session, str], None],
        *,
        surfaces: Collection[str],
    ) -> None:
        self._sessions, self._store, self._clock, self._alert_owner = sessions, store, clock, alert_owner
        self._surfaces = surfaces

    def tick(self) -> None:
        """Look once; what fails for one session is logged and looked at again, and concerns no other."""
        for session in self._sessions.all():
            try:
                for told_at, fault in self._faults(session):
                    self._tell(session, told_at, fault)
            except (TriageError, OSError):
                log.exception("a session was not looked at", extra={"action": "fault_unseen", "session": session.id})

    def _faults(self, session: Session) -> Iterator[tuple[str, str | None]]:
        """Yield each kind of fault: the field of the state that remembers it was told, and its words, None if none."""
        name = session.id
        missing = f"its folder {session.cwd} is not there. Put it back, or correct sessions.{name}.cwd in triage.yml"
        yield "folder_missing_told_at", None if session.cwd.is_dir() else missing
        yield "unreachable_told_at", unreachable(name, session.beat.deliver, has_telegram="telegram" in self._surfaces)

    def _tell(self, session: Session, told_at: str, fault: str | None) -> None:
        was_told = getattr(self._store.load(session.id), told_at) is not None
        if fault is None and was_told:
            self._store.save(session.id, lambda state: state.evolve(**{told_at: None}))
            log.info("a session is whole again", extra={"action": "fault_over", "session": session.id})
        elif fault is not None and not was_told and session.beat.enabled:
            self._alert_owner(
                session,
                f"{session.id} does not beat: {fault}; it goes on by itself then. Other sessions are not affected.",
            )
            now = self._clock.now()
            self._store.save(session.id, lambda state: state.evolve(**{told_at: now}))
