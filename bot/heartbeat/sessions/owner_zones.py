"""What `timezone: user` and `timezone: local` mean: the owner's zone in the chat, and the machine's.

The chat is asked beside the ticks, never during one; until it has said, and where it cannot, the machine's zone counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from bot.domain.hours import ActiveHours
from bot.errors import ConfigError, ProviderError
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)

ASK_AGAIN_AFTER: Final = timedelta(hours=1)


class OwnerZones:
    """The zones of all owners, as last heard; without a chat (the terminal) none is known."""

    def __init__(self, workspace: Workspace | None, clock: Clock, *, local: str) -> None:
        self._workspace, self._clock, self._local = workspace, clock, local
        self._owners = Owners(workspace, clock)
        self._heard: dict[str, tuple[datetime, str | None]] = {}

    def refresh(self, sessions: Iterable[Session]) -> None:
        """Ask the chat for the zones of owners it was not asked for within the hour; keeps what it knew on failure."""
        now = self._clock.now()
        if self._workspace is None:
            return
        for owner in {self._person(s) for s in sessions if s.beat.active_hours.timezone == "user"} - {""}:
            asked_at, known = self._heard.get(owner, (None, None))
            if asked_at is not None and timedelta() <= now - asked_at < ASK_AGAIN_AFTER:
                continue
            try:
                self._heard[owner] = (now, self._workspace.person(owner).timezone)
            except ProviderError:
                self._heard[owner] = (now, known)
                log.warning("cannot learn an owner's zone", extra={"action": "zone_unknown"}, exc_info=True)

    def hours(self, session: Session) -> ActiveHours:
        """Return the session's active hours in the zone that counts now."""
        hours = session.beat.active_hours
        named = {"user": self._of_owner(session), "local": self._local}.get(hours.timezone, hours.timezone)
        try:
            return hours.in_zone(named or self._local)
        except ConfigError:  # the chat knows a zone that this machine's tables do not
            return hours.in_zone(self._local)

    def name(self, session: Session) -> str:
        """Return the IANA name of the zone whose day is the session's."""
        return self.hours(session).timezone

    def note(self, session: Session) -> str | None:
        """Return what a list has to say of the zone, if it is not the one that was meant."""
        if session.beat.active_hours.timezone != "user" or self.hours(session).timezone == self._of_owner(session):
            return None
        if self._workspace is None:
            return f"hours as in {self._local}; the bot itself asks the chat for the owner's zone"
        return f"the owner's zone is unknown; {self._local}, the machine's, counts"

    def _of_owner(self, session: Session) -> str | None:
        return self._heard.get(self._person(session), (None, None))[1]

    def _person(self, session: Session) -> str:
        """Return the one person whose zone counts; "" for a user group, which has none."""
        owner = self._owners.on_duty(session)
        return "" if owner.startswith("S") else owner
