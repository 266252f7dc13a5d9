"""Twins: threads that ask the same as another open one. One investigation, and a post in each thread.

A twin has its own record, which names the first thread, so edits, deletions and its reply are handled as in any other
thread (posting/replies.py). The first thread lists its twins on its card. One process at a time decides to which
thread a twin belongs; if its first thread ends without an answer to it, it joins the next or becomes a thread of its
own at the next tick. A thread of its own shows the newest approved reply to the same question.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from bot.casework.posting.freshness import StillStands, find_changes
from bot.casework.posting.replies import standing_reply
from bot.casework.thread_service import ThreadService
from bot.domain.questions.twin_threads import as_own, fresh, may_lead, raised_by
from bot.domain.questions.twins import TwinReason, same_reason
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import EarlierReply, HumanContext, Resolution, ThreadState, Twin
from bot.errors import Conflict, ProviderError, Unavailable

log = logging.getLogger(__name__)

LOOK_EVERY: Final = timedelta(minutes=1)
"""How often all open threads are looked through for twins that this process did not see come."""

EARLIER_REPLIES: Final = 500
"""How many of the newest replies are looked through for an answer to the same question."""

EARLIER_CHARS: Final = 1_000


class _Match(NamedTuple):
    """The thread in which the same was asked, and what says so."""

    thread_id: str
    reason: TwinReason


class Twins:
    """Decides which threads belong together; `still_stands` says whether a citation's lines are as they were."""

    def __init__(self, service: ThreadService, still_stands: StillStands) -> None:
        self._service, self._still_stands = service, still_stands
        self._deciding = threading.RLock()
        self._known: dict[str, None] = {}
        self._looked_at: datetime | None = None

    def open_thread(self, state: ThreadState, *, may_join: bool) -> None:
        """Put a new thread on disk; with `may_join` as a twin, where an open thread asks the same."""
        with self._deciding:
            found = self._find_first(state) if may_join else None
            if found is not None:
                self._service.store.put(state.evolve(twin_of=found.thread_id))
                self._known[state.thread_id] = None
                log.info("asked before", extra={"action": "twin_found", "thread_id": state.thread_id})
            else:
                self._service.store.put(
                    state.evolve(earlier_reply=_find_earlier(self._service, state, self._still_stands))
                )

    def hold(self, thread_id: str) -> bool:
        """Bring a twin in line with its first thread; False where it is a thread of its own, by now or all along."""
        with self._deciding:
            state = self._service.store.get(thread_id)
            if state is None or state.twin_of is None or not state.is_open:
                return False
            if state.post_intent is not None or self._is_being_answered(state):
                return True
            if not self._belongs(state):
                return False
        self._service.asker.begin(state)
        return True

    def take_out(self, thread_id: str) -> None:
        """Make a twin a thread of its own; a job for it must follow. Any other thread is left alone."""
        with self._deciding:
            state = self._service.store.get(thread_id)
            if state is None or state.twin_of is None or not state.is_open or state.post_intent:
                return
            self.unlist(state)
            self._make_own(state)

    def part(self, thread_id: str, *, by: str) -> str:
        """Take a twin out because somebody says it is not the same, also after it was answered; returns what happened.

        Raises:
            Conflict: it is a thread of its own already, or its reply is being posted.
        """
        state = self._service.store.get(thread_id)
        if state is not None and not state.is_open:
            self._service.cards.finish(thread_id)
            state = None
        if state is None:
            state = self._reopened(thread_id, by=by)
        elif state.twin_of is None:
            raise Conflict("It is a thread of its own already and has its own card.")
        elif state.post_intent is not None:
            raise Conflict("Its reply is being posted at this moment; click again in a minute.")
        else:
            self.take_out(thread_id)
        self._service.queue(thread_id)
        log.info("a twin was taken out", extra={"action": "twin_parted", "thread_id": thread_id})
        return f"Taken out. What was asked in <#{state.chat_id}> gets an investigation and a card of its own."

    def answerable(self, first: ThreadState, shown: int) -> tuple[str, ...]:
        """Return which twins the reply may be posted to: of the first `shown`, those where nothing changed.

        The others become threads of their own. Raises Unavailable where the chat cannot say now.
        """
        chosen = []
        for twin in first.twins[:shown]:
            state = self._service.store.get(twin.thread_id)
            if twin.is_apart or state is None or not state.is_open or state.twin_of != first.thread_id:
                continue
            if self._is_as_it_was(state):
                chosen.append(twin.thread_id)
            else:
                self.take_out(twin.thread_id)
                self._service.queue(twin.thread_id)
        return tuple(chosen)

    def dismiss(self, first: ThreadState, shown: int, *, why: str, by: str) -> None:
        """Close the twins that the card of a dismissed thread showed; later ones become threads of their own."""
        with self._deciding:
            for twin in first.twins[:shown]:
                state = self._service.store.get(twin.thread_id)
                if state is not None and state.is_open and state.twin_of == first.thread_id and not state.post_intent:
                    self._close(state, Resolution.DISMISSED, why, by=by)

    def sort_out(self, thread_id: str) -> None:
        """Take out the twins that an edit made another question: of the thread's own words, or of its first's."""
        state = self._service.store.get(thread_id)
        if state is None or not state.is_open:
            return
        first = self._service.store.get(state.twin_of) if state.twin_of else state
        if first is None:
            return
        for twin in [state] if state.twin_of else list(self._twins_of(first)):
            if same_reason(twin.question, first.question, is_alert=twin.is_alert and first.is_alert) is None:
                self.take_out(twin.thread_id)
                self._service.queue(twin.thread_id)

    def tick(self) -> None:
        """Queue the twins whose first thread has ended without an answer to them."""
        now = self._service.clock.now()
        if self._looked_at is None or not timedelta() <= now - self._looked_at < LOOK_EVERY:
            self._looked_at = now
            self._known.update({one.thread_id: None for one in self._service.store.open_threads() if one.twin_of})
        for thread_id in tuple(self._known):
            state = self._service.store.get(thread_id)
            if state is None or not state.is_open or state.twin_of is None:
                self._known.pop(thread_id, None)
            else:
                self._queue_without_first(state, state.twin_of)

    def _queue_without_first(self, state: ThreadState, first_id: str) -> None:
        first = self._service.store.get(first_id)
        if state.post_intent is None and (first is None or not first.is_open):
            self._service.queue(state.thread_id, unless_queued=True)

    def _find_first(self, state: ThreadState) -> _Match | None:
        """Return the oldest thread that asks the same and may be investigated for it; the words are compared first."""
        may_be_alert = state.is_alert
        for one in self._service.store.open_threads():
            reason = same_reason(state.question, one.question, is_alert=may_be_alert and one.is_alert)
            if reason is not None and may_lead(one, state):
                return _Match(one.thread_id, reason)
        return None

    def _is_being_answered(self, state: ThreadState) -> bool:
        """Whether an approval that names a twin is under way, or was when a process died: it is posted there, too."""
        first = self._service.store.get(state.twin_of or "")
        intent = first.post_intent if first is not None and first.is_open else None
        return intent is not None and state.thread_id in intent.twins

    def _belongs(self, state: ThreadState) -> bool:
        """List a twin at its first thread, or at the next one that asks the same; False: it is its own from now on."""
        assert state.twin_of is not None
        first = self._service.store.get(state.twin_of)
        reason = None
        if first is not None and may_lead(first, state):
            reason = same_reason(state.question, first.question, is_alert=state.is_alert and first.is_alert)
        if reason is not None and self._list(state, state.twin_of, reason):
            return True
        if first is not None:
            self.unlist(state)
        found = self._find_first(state)
        if found is None or not self._list(state, found.thread_id, found.reason):
            self._make_own(state)
            return False
        self._service.store.evolve(state.thread_id, twin_of=found.thread_id)
        return True

    def _list(self, state: ThreadState, first_id: str, reason: str) -> bool:
        """Have the first thread list a twin; it becomes a page if the twin is one. False where it is too late."""
        first = self._service.store.get(first_id)
        if first is None or not may_lead(first, state):
            return False
        if any(twin.thread_id == state.thread_id for twin in first.twins):
            return True
        at = self._service.clock.now()
        twin = Twin(
            thread_id=state.thread_id,
            chat_id=state.chat_id,
            message_id=state.original_message_id,
            asker=state.original_sender_id,
            asked_at=state.last_event_at,
            permalink=state.permalink,
            reason=reason,
        )

        def listed(now: ThreadState) -> ThreadState | None:
            if not may_lead(now, state):
                return None
            raised = raised_by(now, state, at, self._service.settings.pages.again_after)
            return raised.evolve(twins=(*now.twins, twin))

        is_listed = self._service.store.amend(first_id, listed) is not None
        self._service.cards.show_later(first_id)
        return is_listed

    def unlist(self, state: ThreadState) -> None:
        """Have the first thread's card show a twin no more, which has ended or is a thread of its own."""

        def without(now: ThreadState) -> ThreadState | None:
            if not any(twin.thread_id == state.thread_id and not twin.is_apart for twin in now.twins):
                return None
            gone = {"is_apart": True}
            return now.evolve(
                twins=tuple(t.model_copy(update=gone) if t.thread_id == state.thread_id else t for t in now.twins)
            )

        with self._deciding:
            if state.twin_of is not None and self._service.store.amend(state.twin_of, without) is not None:
                self._service.cards.show_later(state.twin_of)

    def _make_own(self, state: ThreadState) -> None:
        earlier = _find_earlier(self._service, state, self._still_stands)
        self._service.store.amend(state.thread_id, lambda now: as_own(now).evolve(earlier_reply=earlier))

    def _close(self, state: ThreadState, resolution: Resolution, why: str, *, by: str | None = None) -> None:
        at = self._service.clock.now()
        self.unlist(state)
        self._service.store.amend(
            state.thread_id, lambda now: now.close(resolution, at=at, why=why, by=by) if now.is_open else None
        )
        self._service.cards.try_to_finish(state.thread_id)

    def _reopened(self, thread_id: str, *, by: str) -> ThreadState:
        """Return a new state on disk for a twin that was answered, or closed, with its first thread."""
        closed = self._service.store.last_closed(thread_id)
        if closed is None:
            raise Conflict("This thread is no longer stored.")
        if closed.twin_of is None:
            raise Conflict("It is a thread of its own already.")
        at = self._service.clock.now()
        said = f"This reply was posted in the thread, and does not answer what was asked there: {closed.draft_pending}"
        own = closed.model_copy(update=fresh(closed, at))
        told = HumanContext(by=by, at=at, text=said[:EARLIER_CHARS])
        return self._service.store.put(own.evolve(human_context=(told,) if closed.posted_message_id else ()))

    def _is_as_it_was(self, state: ThreadState) -> bool:
        """Whether a reply may be posted to a twin: nobody wrote, edited or deleted since, or answered for us."""
        if state.doubts:
            return False
        try:
            messages = self._service.workspace.thread(state.chat_id, state.thread_ts)
            if standing_reply(state, messages) is not None:
                return False
            return not find_changes(self._service, state, lambda _: True, messages)
        except Unavailable:
            raise
        except ProviderError:
            log.warning("a twin is not answered", extra={"action": "twin_unread"}, exc_info=True)
            return False

    def _twins_of(self, first: ThreadState) -> Iterator[ThreadState]:
        for twin in first.twins:
            state = None if twin.is_apart else self._service.store.get(twin.thread_id)
            if state is not None and state.is_open and state.twin_of == first.thread_id:
                yield state


def _find_earlier(service: ThreadService, state: ThreadState, still_stands: StillStands) -> EarlierReply | None:
    """Return the reply, and which of the lines it cites are not as they were; None if there is none."""
    for record in islice(service.replies.newest_first(), EARLIER_REPLIES):
        question, thread_id = record.get("question"), record.get("thread_id")
        if not isinstance(question, str) or thread_id == state.thread_id or record.get("auto"):
            continue
        if same_reason(state.question, question, is_alert=state.is_alert) is not None:
            return _earlier(record, still_stands)
    return None


def _earlier(record: Mapping[str, Any], still_stands: StillStands) -> EarlierReply | None:
    try:
        refs = [EvidenceRef.model_validate(ref) for ref in record.get("evidence_refs") or ()]
        files = [ref for ref in refs if ref.kind is EvidenceKind.FILE]
        return EarlierReply(
            chat_id=record["chat_id"],
            message_id=record["posted_message_id"],
            text=str(record["reply_text"])[:EARLIER_CHARS],
            posted_at=record["posted_at"],
            approved_by=record.get("approved_by"),
            changed=tuple(ref.ref for ref in files if not still_stands(ref)),
        )
    except (KeyError, ValidationError):
        log.warning("an earlier reply could not be read", extra={"action": "reply_unread"}, exc_info=True)
        return None
