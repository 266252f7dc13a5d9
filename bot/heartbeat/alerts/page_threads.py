"""A page ends when somebody who is answerable for it writes in the thread under its alert, in whatever words.

Answerable are approvers, the session's owner (any member of an owner group) and whoever was told next. Nothing of it is
kept in memory, so a restart changes nothing; hearing a message twice changes nothing either.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Final

from bot.domain.events import Event, MessageType
from bot.domain.heartbeats.alerts import OpenFinding, finding_digest
from bot.domain.severity import Severity
from bot.errors import Conflict, ProviderError
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry

log = logging.getLogger(__name__)

_CHANGES: Final = frozenset({MessageType.EDIT, MessageType.DELETE})


class PageThreads:
    """The threads under alerts; `allows` takes a user, a team and who of a session's own people that is, or ""."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        owners: Owners,
        responses: FindingResponses,
        *,
        allows: Callable[[str, str, str], bool],
    ) -> None:
        self._sessions, self._store, self._owners = sessions, store, owners
        self._responses, self._allows = responses, allows

    def holds(self, event: Event) -> bool:
        """Whether a new message stands in the thread under an alert."""
        return event.msg_type not in _CHANGES and any(True for _ in self._under(event))

    def chats(self) -> frozenset[str]:
        """Return the chats where pages stand that nobody has yet: what is missed there has to be read back."""
        findings = (each for session in self._sessions.all() for each in self._store.load(session.id).findings.values())
        pages = (each.posted.all for each in findings if each.posted and _is_unanswered(each))
        return frozenset(place for places in pages for place, _ in places if place[:1] in "CDG")

    def hear(self, event: Event) -> None:
        """Take a message under a page as its writer's acknowledgement, if they are answerable; the card says so.

        Raises:
            ProviderError: the chat cannot say who is answerable.
            StoreError: the disk refuses.
        """
        if event.sender.type != "user" or event.msg_type in _CHANGES:
            return
        by = event.sender.id
        for session, finding in self._under(event):
            if not _is_unanswered(finding):
                continue
            owner = self._owners.answerable(session, by, event.chat_id)
            if self._allows(by, event.team_id, owner):
                self._acknowledge(session, finding, by)

    def _acknowledge(self, session: Session, finding: OpenFinding, by: str) -> None:
        try:
            stands = self._responses.acknowledge(session.id, finding_digest(finding.key), by=by)
        except Conflict:  # somebody was quicker
            return
        log.info("a page was answered in its thread", extra={"action": "page_answered", "session": session.id})
        try:
            self._responses.show(session, stands)
        except ProviderError:
            log.warning("alert not updated", extra={"action": "alert_stale", "session": session.id}, exc_info=True)

    def _under(self, event: Event) -> Iterator[tuple[Session, OpenFinding]]:
        """Yield the findings under whose alert a message stands; only chats are looked at where alerts are sent."""
        if event.thread_id is None:
            return
        for session in self._sessions.all():
            beat = session.beat
            if event.chat_id[:1] == "D" or event.chat_id in (beat.deliver.to, beat.then):
                for finding in self._store.load(session.id).findings.values():
                    if finding.is_at(event.chat_id, event.thread_id):
                        yield session, finding


def _is_unanswered(finding: OpenFinding) -> bool:
    return finding.severity is Severity.PAGE and finding.is_open and not finding.acknowledged_by
