"""Rings again in the ops channel for questions that page until somebody deals with them, and escalates once to `then`.

Looks at every open thread at each tick, whatever its status, so a restart silences no page. A ring is stored once the
chat confirmed it; after a crash it is found in the chat by its number.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.casework.thread_service import ThreadService
from bot.domain.events import Event
from bot.domain.paging import is_escalation_due, is_ring_due
from bot.domain.severity import Severity
from bot.domain.threads import ThreadState
from bot.errors import ProviderError, TriageError, Unavailable
from bot.ports import PageChat, PageRing

log = logging.getLogger(__name__)


class QuestionPages:
    """Rings again for questions that page, at each `tick`, and takes note of messages in their threads.

    `is_approver` takes a user and a team id; `say` says a line in the ops channel.
    """

    def __init__(
        self,
        service: ThreadService,
        chat: PageChat,
        *,
        is_approver: Callable[[str, str], bool],
        say: Callable[[str], None],
    ) -> None:
        self._service, self._chat, self._is_approver, self._say = service, chat, is_approver, say
        self._untold: set[str] = set()

    def tick(self) -> None:
        """Ring and escalate what is due; what fails is logged and due again at the next tick."""
        now = self._service.clock.now()
        waiting = [state for state in self._service.store.open_threads() if is_waiting(state)]
        self._ring([state for state in waiting if self._is_ring_due(state, now)], now)
        for state in waiting:  # an ops channel that takes no ring is a reason to escalate
            self._try_to_escalate(state.thread_id, now)

    def hear(self, event: Event, thread_id: str) -> None:
        """Take what an approver, or who was told next, writes in the thread of a page as their acknowledgement.

        The asker's own words are none, and neither is "me too" of anybody else.
        """
        state = self._service.store.get(thread_id)
        if state is None or not is_waiting(state):
            return
        by, asked = event.sender.id, {state.original_message_id, state.opened_by_message_id}
        if event.message_id in asked or event.sender.type != "user" or by == state.original_sender_id:
            return
        if self._is_approver(by, event.team_id) or was_told(self._service, state, by):
            acknowledge(self._service, thread_id, by=by)

    def _ring(self, due: Sequence[ThreadState], now: datetime) -> None:
        """Ring for all that are due, in one message."""
        rings = [PageRing(state, state.paging.rings + 1, _waited(state, now)) for state in due]
        if not rings:
            return
        try:
            self._service.cards.guard.require()  # it quotes the questions
            self._chat.ring(rings)
            for state, number, _ in rings:
                self._note(state, rung_at=now, rings=number)
                log.info("a question rang again", extra={"action": "question_rang", "thread_id": state.thread_id})
        except TriageError:
            log.warning("questions did not ring again", extra={"action": "question_ring_failed"}, exc_info=True)

    def _is_ring_due(self, state: ThreadState, now: datetime) -> bool:
        paging, again = state.paging, self._service.settings.pages.again_after
        said_at = paging.rung_at or (None if paging.since else state.started_at)  # a new card rings, an edited one not
        return is_ring_due(now, said_at=said_at, rings=paging.rings, again_after=again)

    def _try_to_escalate(self, thread_id: str, now: datetime) -> None:
        """Escalate a page as it stands by now: somebody may have clicked while the rings were on their way."""
        try:
            state = self._service.store.get(thread_id)
            if state is not None and is_waiting(state):
                self._escalate(state, now)
        except TriageError:
            extra = {"action": "question_ring_failed", "thread_id": thread_id}
            log.warning("a question was not escalated", extra=extra, exc_info=True)

    def _escalate(self, state: ThreadState, now: datetime) -> None:
        """Tell `then`, once; where it cannot be told the ops channel hears why, once in a run."""
        paging, pages = state.paging, self._service.settings.pages
        first_at = paging.since or state.started_at
        is_due = is_escalation_due(now, first_at=first_at, rings=paging.rings, again_after=pages.again_after)
        if pages.then is None or paging.escalated_at is not None or not is_due:
            return
        try:
            if pages.then[:1] in "CG" and not self._service.workspace.channel(pages.then).is_private:
                self._say(
                    f"A page nobody acknowledged was not told to <#{pages.then}> (`pages.then`): it is not private."
                )
                self._note(state, escalated_at=now)
                return
            self._chat.escalate(state, pages.then, waited=_waited(state, now))
        except Unavailable:
            raise
        except ProviderError as error:
            self._say_untold(state, pages.then, error)
            raise
        self._note(state, escalated_at=now, escalated_to=pages.then)
        log.info("a question was escalated", extra={"action": "question_escalated", "thread_id": state.thread_id})

    def _say_untold(self, state: ThreadState, to: str, error: ProviderError) -> None:
        """Tell the ops channel once that `then` cannot be told; it is tried again at each tick."""
        if state.thread_id not in self._untold:
            self._untold.add(state.thread_id)
            self._say(f"A page nobody acknowledged could not be told to `{to}` (`pages.then`): {error}")

    def _note(self, state: ThreadState, **changes: object) -> None:
        """Write down what was said, also where somebody acknowledged meanwhile."""
        self._service.store.amend(
            state.thread_id, lambda now: now.evolve(paging=now.paging.evolve(**changes)) if now.is_open else None
        )


def acknowledge(service: ThreadService, thread_id: str, *, by: str) -> None:
    """Note that somebody deals with a page, once, and have its card say so; any other thread is left alone.

    Raises:
        StoreError: the disk refuses.
    """
    at = service.clock.now()

    def note(now: ThreadState) -> ThreadState | None:
        if not is_waiting(now):
            return None
        return now.evolve(paging=now.paging.evolve(acknowledged_at=at, acknowledged_by=by))

    if service.store.amend(thread_id, note) is not None:
        service.cards.show_later(thread_id)


def is_waiting(state: ThreadState) -> bool:
    """Whether a page still wants somebody: an open question that nobody deals with.

    For a twin its first thread rings; an alert that fires anew rings itself, for it ends by itself.
    """
    rings_itself = state.twin_of is None or (state.alert is not None and state.paging.since is not None)
    is_page = state.severity is Severity.PAGE and state.is_open and rings_itself
    return is_page and state.paging.acknowledged_by is None and state.post_intent is None


def was_told(service: ThreadService, state: ThreadState, user_id: str) -> bool:
    """Whether a page was escalated to somebody: to them, or to their user group or private channel."""
    to = state.paging.escalated_to
    if to is None or to[:1] in "UW":
        return to == user_id
    try:
        return user_id in service.workspace.members(to)
    except ProviderError:
        log.warning("cannot tell whom a page was told to", extra={"action": "told_unknown"}, exc_info=True)
        return False


def _waited(state: ThreadState, now: datetime) -> timedelta:
    """Return since when nobody has acknowledged a page; nothing where the clock was set back."""
    return max(now - (state.paging.since or state.started_at), timedelta())
