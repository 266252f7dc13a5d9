"""Twins: threads that ask the same as another open one. One investigation, and a post in each thread.

A twin has its own record, which names the first thread in `twin_of`, so edits, deletions and its reply are handled as
in any other thread (posting/replies.py); the first thread lists its twins on its card. Which threads belong together is
decided when one opens, by hand, when a question is edited, and when a first thread ends without an answer to all.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from bot.casework.posting.freshness import StillStands, find_changes
from bot.casework.posting.replies import standing_reply
from bot.casework.posting.reply_proof import earlier_reply
from bot.casework.thread_service import ThreadService
from bot.domain.questions import twins as rules
from bot.domain.threads import Resolution, ThreadState
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports.threads import Threads

log = logging.getLogger(__name__)

NO_TWIN: Final = (
    "It has a card of its own by now, or was answered. Where a reply does not fit what was asked, mention the bot in "
    "that thread and say what is missing: it looks into it again."
)


class Twins:
    """Decides which threads belong together; `still_stands` says whether a citation's lines are as they were."""

    def __init__(self, service: ThreadService, still_stands: StillStands) -> None:
        self._service, self._store, self._still_stands = service, service.store, still_stands
        self._deciding = threading.RLock()

    def open_thread(self, state: ThreadState, *, may_join: bool) -> None:
        """Put a new thread on disk; with `may_join` as a twin, where an open thread asks the same."""
        with self._deciding:
            self._store.put(self._placed(state, may_join=may_join))

    def hold(self, thread_id: str) -> bool:
        """List a twin at its first thread, or at the next that asks the same; False where it is a thread of its own."""
        with self._deciding:
            state = self._open_twin(thread_id)
            while state is not None and state.twin_of and not (state.post_intent or self._is_listed(state)):
                self.unlist(state)
                state = self._store.amend(thread_id, lambda now: self._placed(rules.as_own(now), may_join=True))
        if state is not None and state.twin_of:
            self._service.asker.begin(state)
        return state is not None and state.twin_of is not None

    def join(self, state: ThreadState, first_id: str, *, by: str) -> None:
        """Make a waiting thread a twin of another one, because somebody says that it asks the same.

        Raises:
            InputError: a human wrote its draft.
            Conflict: the other one has ended or is a twin by now, or somebody decided on this one meanwhile.
        """
        if state.has_edited_draft:
            raise InputError("A human wrote this draft, so it stays. Join the other question to this one, on its card.")
        why = f"<@{by}> said that it asks the same as another thread"
        joined = state.reopened(at=self._service.clock.now(), why=why).evolve(twin_of=first_id)
        with self._deciding:
            if not self._is_listed(joined, by=by):
                raise Conflict("The other question has ended, or is answered with another one by now. Choose again.")
            for twin in self._listed(state, len(state.twins)):
                self._service.queue(twin.thread_id)
            if self._store.put_if_newest(joined) is None:
                self.unlist(joined)
                raise Conflict("Somebody decided on this question first. Its card shows the current state.")
        self._service.cards.show_card(state.thread_id)

    def take_out(self, thread_id: str) -> None:
        """Make a twin a thread of its own, and have it worked on. Any other thread is left alone."""
        with self._deciding:
            state = self._open_twin(thread_id)
            if state is not None and not state.post_intent:
                self.unlist(state)
                self._store.amend(thread_id, lambda now: self._placed(rules.as_own(now), may_join=False))
                self._service.queue(thread_id)

    def part(self, thread_id: str) -> str:
        """Take a twin out because somebody says it is not the same; returns what happened.

        Raises:
            Conflict: it is none any more: answered, taken out by somebody else, or its reply is being posted.
        """
        state = self._open_twin(thread_id)
        if state is None or state.post_intent:
            raise Conflict(NO_TWIN)
        self.take_out(thread_id)
        return f"Taken out. What was asked in <#{state.chat_id}> gets an investigation and a card of its own."

    def answerable(self, first: ThreadState, shown: int) -> tuple[str, ...]:
        """Return which twins the reply may be posted to: of the first `shown`, those where nothing changed.

        The others become threads of their own. Raises Unavailable where the chat cannot say now.
        """
        is_same = {twin.thread_id: self._is_as_it_was(twin) for twin in self._listed(first, shown)}
        for thread_id in is_same:
            if not is_same[thread_id]:
                self.take_out(thread_id)
        return tuple(thread_id for thread_id in is_same if is_same[thread_id])

    def dismiss(self, first: ThreadState, shown: int, *, why: str, by: str) -> None:
        """Close the twins that the card of a dismissed thread showed; later ones become threads of their own."""
        at = self._service.clock.now()
        for twin in self._listed(first, shown):
            if self._store.put_if_newest(twin.close(Resolution.DISMISSED, at=at, why=why, by=by)) is not None:
                self._service.cards.try_to_finish(twin.thread_id)

    def sort_out(self, before: ThreadState, now: ThreadState) -> None:
        """Take out the twins that an edit made another question: of the thread's own words, or of its first's."""
        with self._deciding:
            first = self._store.get(now.twin_of or now.thread_id)
            behind = (one for one in self._store.where("twin_of", now.thread_id) if one.is_open)
            for twin in [now] if now.twin_of else behind:
                if first is not None and not _are_same(twin, first) and not _are_same(now, before):
                    self.take_out(twin.thread_id)

    def unlist(self, twin: ThreadState) -> None:
        """Have the first thread's card show a twin no more, which has ended or is a thread of its own."""
        if self._store.amend(twin.twin_of or "", lambda first: rules.without_twin(first, twin.thread_id)) is not None:
            self._service.cards.show_later(twin.twin_of or "")

    def _open_twin(self, thread_id: str) -> ThreadState | None:
        state = self._store.get(thread_id)
        return state if state is not None and state.is_open and state.twin_of else None

    def _listed(self, first: ThreadState, shown: int) -> list[ThreadState]:
        """Return of the first `shown` twins in a thread's list those that are twins of it still."""
        named = [self._open_twin(entry.thread_id) for entry in first.twins[:shown] if not entry.is_apart]
        return [twin for twin in named if twin and twin.twin_of == first.thread_id and twin.post_intent is None]

    def _is_listed(self, twin: ThreadState, *, by: str | None = None) -> bool:
        """Have the first thread list a twin; False where that may not lead it."""
        at, wait = self._service.clock.now(), self._service.settings.pages.again_after
        listed = self._store.amend(twin.twin_of or "", lambda now: rules.with_twin(now, twin, by=by, at=at, wait=wait))
        self._service.cards.show_later(twin.twin_of or "")
        return listed is not None

    def _placed(self, state: ThreadState, *, may_join: bool) -> ThreadState:
        """Return a thread as a twin of the oldest that asks the same, or of its first; else with an earlier reply."""
        for one in self._store.open_threads() if may_join else ():
            first = self._store.get(one.twin_of or one.thread_id) if _are_same(one, state) else None
            if first is not None and rules.may_lead(first, state) and not rules.is_apart(first, state.thread_id):
                return state.evolve(twin_of=first.thread_id)
        return state.evolve(earlier_reply=earlier_reply(self._service.replies, state, self._still_stands))

    def _is_as_it_was(self, twin: ThreadState) -> bool:
        """Whether a reply may be posted to a twin: nobody wrote, edited or deleted since, or answered for us."""
        try:
            messages = self._service.workspace.thread(twin.chat_id, twin.thread_ts)
            changes = find_changes(self._service, twin, lambda _: True, messages)
        except Unavailable:
            raise
        except ProviderError:
            log.warning("a twin is not answered", extra={"action": "twin_unread"}, exc_info=True)
            return False
        return not (twin.doubts or changes or standing_reply(twin, messages))


def joinable(store: Threads, state: ThreadState) -> list[ThreadState]:
    """Return the open threads that a waiting one can be joined to by hand, the newest first; of a human's text none."""
    others = [] if state.has_edited_draft else store.open_threads()
    return [one for one in reversed(others) if rules.may_lead(one, state)]


def _are_same(one: ThreadState, other: ThreadState) -> bool:
    return not rules.keys_of(one).isdisjoint(rules.keys_of(other))
