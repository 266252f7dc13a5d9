"""Who a session belongs to, who types a command and what they may, and whose zone a session's hours go by.

The chat is asked for the members of user groups and, beside the ticks, for people's zones. Where it cannot say, nobody
of a group may act, and the machine's zone counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from bot.domain.hours import ActiveHours
from bot.errors import ConfigError, InputError, ProviderError
from bot.heartbeat.sessions.session_registry import Session
from bot.ports import Clock, Workspace

log = logging.getLogger(__name__)


ASK_AGAIN_AFTER: Final = timedelta(hours=1)


class Owners:
    """Answers for every session; without a chat (the terminal) no group has members."""

    def __init__(self, workspace: Workspace | None) -> None:
        self._workspace = workspace
        self._members: dict[str, frozenset[str]] = {}

    def includes(self, session: Session, user_id: str) -> bool:
        """Whether somebody is an owner: the person, or a member of the group."""
        return bool(session.owner) and self._is(session.owner, user_id)

    def claim(self, session: Session, user_id: str, *, asks: bool = True) -> str:
        """Return a user who is an owner, as `Approvers` wants to know it; "" for anybody else.

        `asks=False`: without a request, so of a group count those who were in it when last asked.
        """
        if asks or not session.owner.startswith("S"):
            return user_id if self.includes(session, user_id) else ""
        return user_id if user_id in self._members.get(session.owner, frozenset()) else ""

    def answerable(self, session: Session, user_id: str, channel: str = "", *, asks: bool = True) -> str:
        """Return a user, as `claim` does, who is an owner, or whom a page is escalated to (`then`).

        In a private channel that is told next, that is everybody who reads there.
        """
        to = session.beat.then or ""
        if to and (channel == to or self._is(to, user_id)):
            return user_id
        return self.claim(session, user_id, asks=asks)

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


class Asker:
    """Who types a command; on the terminal, as here, somebody who may do everything."""

    def __init__(self, id: str, name: str) -> None:
        self.id, self.name = id, name

    def owns(self, session: Session) -> bool:  # noqa: ARG002 - of everything on the terminal
        """Whether a session is theirs."""
        return True

    def require(self, refusal: str, session: Session | None = None, *, next_step: str = "") -> None:
        """Return if they are an approver or own the session; raises InputError with `refusal` if not."""

    def may(self, session: Session | None = None) -> bool:
        """Whether `require` would return."""
        try:
            self.require("", session)
        except InputError:
            return False
        return True


class OwnerZones:
    """The zones of all owners, as last heard; without a chat (the terminal) none is known."""

    def __init__(self, workspace: Workspace | None, clock: Clock, *, local: str) -> None:
        self._workspace, self._clock, self._local = workspace, clock, local
        self._heard: dict[str, tuple[datetime, str | None]] = {}

    def refresh(self, sessions: Iterable[Session]) -> None:
        """Ask the chat for the zones of owners it was not asked for within the hour; keeps what it knew on failure."""
        now = self._clock.now()
        if self._workspace is None:
            return
        for owner in {_person(s) for s in sessions if s.beat.active_hours.timezone == "user"} - {""}:
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
            return ActiveHours(hours.start, hours.end, named or self._local)
        except ConfigError:  # the chat knows a zone that this machine's tables do not
            return ActiveHours(hours.start, hours.end, self._local)

    def zone_name(self, session: Session) -> str:
        """Return the IANA name of the zone whose day is the session's."""
        return self.hours(session).timezone

    def zone_note(self, session: Session) -> str | None:
        """Return what a list has to say of the zone, if it is not the one that was meant."""
        if session.beat.active_hours.timezone != "user" or self.hours(session).timezone == self._of_owner(session):
            return None
        if self._workspace is None:
            return f"hours as in {self._local}; the bot itself asks the chat for the owner's zone"
        return f"the owner's time zone is unknown; the machine's ({self._local}) is used"

    def _of_owner(self, session: Session) -> str | None:
        return self._heard.get(_person(session), (None, None))[1]


def _person(session: Session) -> str:
    """Return the one person whose zone counts; "" for a user group, which has none."""
    return "" if session.owner.startswith("S") else session.owner
