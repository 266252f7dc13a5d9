"""Counts votes on posted replies, and tells the approvers once of a reply that did not help.

A vote is stored before its click is acknowledged. `tick` then shows the counts on the thread's card and, once for a
reply, posts below that card that somebody found it not helpful. Intent, look, post: a crash makes neither two such
messages nor none.
"""

from __future__ import annotations

import logging
import re
import threading
from datetime import timedelta
from typing import Final

from bot.casework.thread_service import ThreadService
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.threads import ThreadState, reply_id_of
from bot.errors import InputError, ProviderError
from bot.ports import FeedbackChat
from bot.ports.chat import may_still_arrive
from bot.ports.collections import Collection

log = logging.getLogger(__name__)

_USER: Final = re.compile(r"[UW][A-Z0-9]{1,40}")
THANKS: Final = "Thank you, that is counted. You can change it with the other button."
AGAIN: Final = "You have said so already; it is counted once. You can change it with the other button."
SORRY: Final = "Thank you, that is counted, and the people who approve replies are told. You can change it at any time."


class FeedbackVotes:
    """The votes on one team's replies; records older than `keep` are removed, None keeps all."""

    def __init__(
        self, service: ThreadService, store: Collection[Feedback], chat: FeedbackChat, *, keep: timedelta | None
    ) -> None:
        self._service, self._store, self._chat, self._keep = service, store, chat, keep
        self._working = threading.Lock()

    def vote(self, thread_id: str, reply_id: str, *, by: str, is_helpful: bool) -> str:
        """Put a vote on file, the last one of each person; returns what to answer them.

        Raises:
            InputError: there is no such thread, or nobody says who clicked.
            StoreError: the disk refuses; nothing is counted.
        """
        state = self._state(thread_id, reply_id)
        if state is None or not _USER.fullmatch(by):
            raise InputError("The thread of this reply is not on file any more; nothing was counted.")
        about = {"question": state.question, "permalink": state.permalink} if reply_id_of(state) == reply_id else {}
        self._store.add(reply_id, Feedback(id=reply_id, thread_id=thread_id, **about))
        vote, was_same = Vote(is_helpful=is_helpful, at=self._service.clock.now()), False

        def voted(now: Feedback) -> Feedback:
            nonlocal was_same
            known = now.votes.get(by)
            was_same = known is not None and known.is_helpful == is_helpful
            return now if was_same else now.evolve(votes={**now.votes, by: vote})

        self._store.change(reply_id, voted)
        if was_same:
            return AGAIN
        log.info("a vote on a reply", extra={"action": "voted", "thread_id": thread_id})
        return THANKS if is_helpful else SORRY

    def tick(self) -> None:
        """Show what was voted and tell of replies that did not help; what the chat refuses now is tried again."""
        now = self._service.clock.now()
        with self._working:
            for one in self._store.all():
                try:
                    if one.against and not one.is_told:
                        self._tell(one)
                    if one.counts != one.shown:
                        self._show(one)
                except ProviderError as error:
                    log.info("feedback is shown later: %s", error, extra={"action": "feedback_waits"})
                if self._keep is not None and one.votes and now - one.last_at > self._keep:
                    self._store.remove(one.id)

    def _tell(self, one: Feedback) -> None:
        """Say below the card that a reply did not help, unless that stands there."""
        state, now = self._carded(one), self._service.clock.now()
        if state is None:
            self._service.messenger.tell_ops(
                f"A reply was not helpful, and its card is gone: {one.permalink or one.id}"
            )
        elif one.telling_at is None:
            self._store.evolve(one.id, telling_at=now)
            self._service.cards.guard.require()
            self._chat.tell(state, one)
        elif not self._chat.is_told(state, one):
            if may_still_arrive(one.telling_at, now):
                return
            self._service.cards.guard.require()
            self._chat.tell(state, one)
        self._store.evolve(one.id, is_told=True)

    def _show(self, one: Feedback) -> None:
        """Bring the card of a thread that has ended in line; one that is open again shows another reply."""
        state, counts = self._state(one.thread_id, one.id), one.counts
        if state is not None and reply_id_of(state) == one.id:
            if state.is_open:
                return  # its reply has just been posted
            self._service.show_closed(state)
        self._store.evolve(one.id, shown=tuple(counts))

    def _carded(self, one: Feedback) -> ThreadState | None:
        """Return the thread below whose card a reply is spoken of: its own, or the one it was a twin of.

        None for a card in what was the ops channel once.
        """
        state = self._state(one.thread_id, one.id)
        if state is not None and state.card_ts is None and state.twin_of is not None:
            state = self._state(state.twin_of, "")
        return state if state is not None and state.card_channel == self._service.settings.ops_channel else None

    def _state(self, thread_id: str, reply_id: str) -> ThreadState | None:
        """Return the thread of a reply as it ended, or as it stands; a later question's where there is no other."""
        found = (self._service.store.get(thread_id), self._service.store.last_closed(thread_id))
        known = [state for state in found if state is not None]
        return next((state for state in known if reply_id_of(state) == reply_id), known[0] if known else None)
