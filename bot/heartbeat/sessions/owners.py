"""Who a session belongs to: a person, a user group, or whoever of a rota is on duty.

Asks the chat for the members of groups; where it cannot say, nobody of that group may act.
"""

from __future__ import annotations

import logging

from bot.errors import ProviderError
from bot.heartbeat.sessions.session_registry import Session
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)


class Owners:
    """Answers for every session; without a chat (the terminal) no group has members."""

    def __init__(self, workspace: Workspace | None, clock: Clock) -> None:
        self._workspace, self._clock = workspace, clock
        self._members: dict[str, frozenset[str]] = {}

    def on_duty(self, session: Session) -> str:
        """Return the user or user group that is told now; "" for nobody."""
        return session.rota.on_duty(self._clock.now()) if session.rota else session.owner

    def includes(self, session: Session, user_id: str) -> bool:
        """Whether somebody is an owner: the person, one of the rota whoever is on duty, or a member of the group."""
        if session.rota is not None:
            return user_id in session.rota.people
        return bool(session.owner) and self._is(session.owner, user_id)

    def claim(self, session: Session, user_id: str) -> str:
        """Return a user who is an owner, as `Approvers` wants to know it; "" for anybody else."""
        return user_id if self.includes(session, user_id) else ""

    def claim_unasked(self, session: Session, user_id: str) -> str:
        """Return what `claim` would, without a request: of a group count those who were in it when last asked."""
        if session.rota is not None or not session.owner.startswith("S"):
            return self.claim(session, user_id)
        return user_id if user_id in self._members.get(session.owner, frozenset()) else ""

    def was_told(self, session: Session, user_id: str, channel: str = "") -> bool:
        """Whether somebody is whom a page is escalated to; in a private channel that is everybody in it."""
        to = session.beat.then or ""
        return bool(to) and (channel == to or self._is(to, user_id))

    def _is(self, who: str, user_id: str) -> bool:
        if not who.startswith("S"):
            return who == user_id
        if self._workspace is None:
            return False
        try:
            self._members[who] = self._workspace.members(who)
        except ProviderError:
            log.warning("cannot tell who is in a user group", extra={"action": "owners_unknown"}, exc_info=True)
            return False
        return user_id in self._members[who]
