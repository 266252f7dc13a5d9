"""Twins: threads in which the same was asked while another one was open. One investigation, a post in each thread.

A twin has a record of its own, which names the first thread, so that what is written in it, edited or deleted is its
own job, and its reply is posted and settled as any other (bot/casework/replies.py). The first thread lists them for
the card. Which thread a twin belongs to is decided by one at a time; a twin whose first thread has ended without an
answer to it belongs to the next, or becomes a thread of its own at the next tick: none is ever forgotten.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from bot.casework.freshness import StillStands, find_changes
from bot.casework.replies import standing_reply
from bot.casework.thread_service import ThreadService
from bot.domain.jobs import ContinueThread
from bot.domain.paging import Paging
from bot.domain.questions.twins import Asked, TwinMatch, same_reason, twin_of
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.severity import Severity
from bot.domain.threads import EarlierReply, HumanContext, Resolution, ThreadState, Twin
from bot.errors import Conflict, ProviderError, Unavailable

log = logging.getLogger(__name__)

EARLIER_REPLIES: Final = 500
"""How many of the newest replies are looked through for an earlier answer."""
EARLIER_CHARS: Final = 1_000
_PEOPLE: Final = ("U", "W")


class Twins:
    """Decides which threads belong together; `still_stands` says whether a citation's lines are as they were."""

    def __init__(self, desk: ThreadService, still_stands: StillStands) -> None:
        self._desk, self._still_stands = desk, still_stands
        self._deciding = threading.RLock()

    def open_thread(self, state: ThreadState, *, may_join: bool) -> None:
        """Put a new thread on disk; with `may_join` as a twin, where an open thread asks the same."""
        with self._deciding:
            found = self._find_first(state) if may_join else None
            if found is not None:
                self._desk.store.put(state.evolve(twin_of=found.thread_id))
                log.info("asked before", extra={"action": "twin_found", "thread_id": state.thread_id})
            else:
                self._desk.store.put(state.evolve(earlier_reply=self._find_earlier(state)))

    def hold(self, thread_id: str) -> bool:
        """Bring a twin in line with its first thread; False where it is a thread of its own, by now or all along."""
        with self._deciding:
            state = self._desk.store.get(thread_id)
            if state is None or state.twin_of is None or not state.is_open:
                return False
            if state.post_intent is not None:
                return True
            if state.is_settled:
                self._close(state, Resolution.WITHDRAWN, "the asker needs no answer any more")
                return True
            if not self._belongs(state):
                return False
        self._desk.asker.begin(state)
        return True

    def take_out(self, thread_id: str) -> None:
        """Make a twin a thread of its own; a job for it must follow. Any other thread is left alone."""
        with self._deciding:
            state = self._desk.store.get(thread_id)
            if state is None or state.twin_of is None or not state.is_open or state.post_intent:
                return
            self._unlist(state)
            self._make_own(state)

    def part(self, thread_id: str, *, by: str) -> str:
        """Take a twin out because somebody says it is not the same, also after it was answered; returns what happened.

        Raises:
            Conflict: it is a thread of its own already, or its reply is being posted.
        """
        state = self._desk.store.get(thread_id)
        if state is not None and not state.is_open:
            self._desk.cards.finish(thread_id)
            state = None
        if state is None:
            state = self._reopened(thread_id, by=by)
        elif state.twin_of is None:
            raise Conflict("It is a thread of its own already and has its own card.")
        elif state.post_intent is not None:
            raise Conflict("Its reply is being posted at this moment; click again in a minute.")
        else:
            self.take_out(thread_id)
        self._desk.jobs.put(ContinueThread(thread_id=thread_id))
        log.info("a twin was taken out", extra={"action": "twin_parted", "thread_id": thread_id})
        return f"Taken out. What was asked in <#{state.chat_id}> gets an investigation and a card of its own."

    def answerable(self, first: ThreadState, shown: int) -> tuple[str, ...]:
        """Return which twins the reply may be posted to: of the first `shown`, those where nothing changed.

        The others become threads of their own. Raises Unavailable where the chat cannot say now.
        """
        chosen = []
        for twin in first.twins[:shown]:
            state = self._desk.store.get(twin.thread_id)
            if twin.is_apart or state is None or not state.is_open or state.twin_of != first.thread_id:
                continue
            if self._is_as_it_was(state):
                chosen.append(twin.thread_id)
            else:
                self.take_out(twin.thread_id)
                self._desk.jobs.put(ContinueThread(thread_id=twin.thread_id))
        return tuple(chosen)

    def dismiss(self, first: ThreadState, shown: int, *, why: str) -> None:
        """Close the twins that the card of a dismissed thread showed; later ones become threads of their own."""
        with self._deciding:
            for twin in first.twins[:shown]:
                state = self._desk.store.get(twin.thread_id)
                if state is not None and state.is_open and state.twin_of == first.thread_id and not state.post_intent:
                    self._close(state, Resolution.DISMISSED, why)

    def sort_out(self, thread_id: str) -> None:
        """Take out the twins that an edit made another question: of the thread's own words, or of its first's."""
        state = self._desk.store.get(thread_id)
        if state is None or not state.is_open:
            return
        first = self._desk.store.get(state.twin_of) if state.twin_of else state
        if first is None:
            return
        for twin in [state] if state.twin_of else list(self._twins_of(first)):
            if same_reason(twin.question, first.question, is_alert=is_alert(twin) and is_alert(first)) is None:
                self.take_out(twin.thread_id)
                self._desk.jobs.put(ContinueThread(thread_id=twin.thread_id))

    def unlist(self, twin: ThreadState) -> None:
        """Have the first thread's card show a twin no more that has ended."""
        with self._deciding:
            self._unlist(twin)

    def tick(self) -> None:
        """Queue the twins whose first thread has ended without an answer to them."""
        for state in self._desk.store.open_threads():
            if state.twin_of is None or state.post_intent is not None or self._desk.jobs.holds(state.thread_id):
                continue
            first = self._desk.store.get(state.twin_of)
            if first is None or not first.is_open:
                self._desk.jobs.put(ContinueThread(thread_id=state.thread_id))

    def _find_first(self, state: ThreadState) -> TwinMatch | None:
        others = [one for one in self._desk.store.open_threads() if _may_lead(one, state)]
        return twin_of(_asked(state), [_asked(one) for one in others])

    def _belongs(self, state: ThreadState) -> bool:
        """List a twin at its first thread, or at the next one that asks the same; False: it is its own from now on."""
        assert state.twin_of is not None
        first = self._desk.store.get(state.twin_of)
        reason = None
        if first is not None and _may_lead(first, state):
            reason = same_reason(state.question, first.question, is_alert=is_alert(state) and is_alert(first))
        if reason is not None and self._list(state, state.twin_of, reason):
            return True
        if first is not None:
            self._unlist(state)
        found = self._find_first(state)
        if found is None or not self._list(state, found.thread_id, found.reason):
            self._make_own(state)
            return False
        self._desk.store.amend(state.thread_id, lambda now: now.evolve(twin_of=found.thread_id))
        return True

    def _list(self, state: ThreadState, first_id: str, reason: str) -> bool:
        """Have the first thread list a twin; it becomes a page if the twin is one. False where it is too late."""
        first = self._desk.store.get(first_id)
        if first is None or not _may_lead(first, state):
            return False
        if any(twin.thread_id == state.thread_id for twin in first.twins):
            return True
        at = self._desk.clock.now()
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
            if not _may_lead(now, state):
                return None
            return _raised_by(now, state, at).evolve(twins=(*now.twins, twin))

        is_listed = self._desk.store.amend(first_id, listed) is not None
        self._desk.cards.show_later(first_id)
        return is_listed

    def _unlist(self, state: ThreadState) -> None:
        def without(now: ThreadState) -> ThreadState | None:
            if not any(twin.thread_id == state.thread_id and not twin.is_apart for twin in now.twins):
                return None
            gone = {"is_apart": True}
            return now.evolve(
                twins=tuple(t.model_copy(update=gone) if t.thread_id == state.thread_id else t for t in now.twins)
            )

        if state.twin_of is not None and self._desk.store.amend(state.twin_of, without) is not None:
            self._desk.cards.show_later(state.twin_of)

    def _make_own(self, state: ThreadState) -> None:
        earlier = self._find_earlier(state)
        self._desk.store.amend(state.thread_id, lambda now: _as_own(now).evolve(earlier_reply=earlier))

    def _close(self, state: ThreadState, resolution: Resolution, why: str) -> None:
        at = self._desk.clock.now()
        self._unlist(state)
        self._desk.store.amend(
            state.thread_id, lambda now: now.close(resolution, at=at, why=why) if now.is_open else None
        )
        self._desk.cards.try_to_finish(state.thread_id)

    def _reopened(self, thread_id: str, *, by: str) -> ThreadState:
        """Return a new state on disk for a twin that was answered, or closed, with its first thread."""
        closed = self._desk.store.last_closed(thread_id)
        if closed is None:
            raise Conflict("This thread is no longer stored.")
        if closed.twin_of is None:
            raise Conflict("It is a thread of its own already.")
        at = self._desk.clock.now()
        said = f"This reply was posted in the thread, and does not answer what was asked there: {closed.draft_pending}"
        own = closed.model_copy(update=_fresh(closed, at))
        told = HumanContext(by=by, at=at, text=said[:EARLIER_CHARS])
        return self._desk.store.put(own.evolve(human_context=(told,) if closed.posted_message_id else ()))

    def _is_as_it_was(self, state: ThreadState) -> bool:
        """Whether a reply may be posted to a twin: nobody wrote, edited or deleted since, or answered for us."""
        if state.doubts:
            return False
        try:
            messages = self._desk.workspace.thread(state.chat_id, state.thread_ts)
            if standing_reply(state, messages) is not None:
                return False
            return not find_changes(self._desk, state, lambda _: True, messages)
        except Unavailable:
            raise
        except ProviderError:
            log.warning("a twin is not answered", extra={"action": "twin_unread"}, exc_info=True)
            return False

    def _twins_of(self, first: ThreadState) -> Iterator[ThreadState]:
        for twin in first.twins:
            state = None if twin.is_apart else self._desk.store.get(twin.thread_id)
            if state is not None and state.is_open and state.twin_of == first.thread_id:
                yield state

    def _find_earlier(self, state: ThreadState) -> EarlierReply | None:
        """Return the newest reply that was approved to the same question in another thread."""
        for record in islice(self._desk.replies.newest_first(), EARLIER_REPLIES):
            question, thread_id = record.get("question"), record.get("thread_id")
            if not isinstance(question, str) or thread_id == state.thread_id:
                continue
            if same_reason(state.question, question, is_alert=is_alert(state)) is not None:
                return self._earlier(record)
        return None

    def _earlier(self, record: Mapping[str, Any]) -> EarlierReply | None:
        try:
            refs = [EvidenceRef.model_validate(ref) for ref in record.get("evidence_refs") or ()]
            files = [ref for ref in refs if ref.kind is EvidenceKind.FILE]
            return EarlierReply(
                chat_id=record["chat_id"],
                message_id=record["posted_message_id"],
                text=str(record["reply_text"])[:EARLIER_CHARS],
                posted_at=record["posted_at"],
                approved_by=record.get("approved_by"),
                changed=tuple(ref.ref for ref in files if not self._still_stands(ref)),
            )
        except (KeyError, ValidationError):
            log.warning("an earlier reply could not be read", extra={"action": "reply_unread"}, exc_info=True)
            return None


def is_alert(state: ThreadState) -> bool:
    """Whether what differs from one occurrence to the next does not count: a bot said it, or it pages."""
    return state.severity is Severity.PAGE or not state.original_sender_id.startswith(_PEOPLE)


def _asked(state: ThreadState) -> Asked:
    return Asked(state.thread_id, state.question, is_alert(state))


def _may_lead(first: ThreadState, twin: ThreadState) -> bool:
    """Whether a thread may be investigated for another one: its reply is not posted yet, and it never was parted."""
    is_open = first.is_open and first.post_intent is None and first.twin_of is None and not first.is_settled
    was_parted = any(known.thread_id == twin.thread_id and known.is_apart for known in first.twins)
    return is_open and first.team_id == twin.team_id and first.thread_id != twin.thread_id and not was_parted


def _raised_by(first: ThreadState, twin: ThreadState, at: datetime) -> ThreadState:
    """Return the first thread as a page from now on, if its twin is one."""
    if twin.severity is not Severity.PAGE or first.severity is Severity.PAGE:
        return first
    return first.evolve(severity=Severity.PAGE, paging=Paging(since=at))


_NO_DRAFT: Final[Mapping[str, Any]] = {
    "twin_of": None,
    "post_intent": None,
    "approved_by": None,
    "user_approved_at": None,
    "draft_pending": None,
    "draft_hash": None,
    "pending_reason": None,
    "investigator": None,
    "investigator_task_id": None,
    "investigator_round": 0,
    "investigator_return": None,
    "validator_task_id": None,
    "validator_return": None,
}


_OF_THE_QUESTION: Final = frozenset(
    {"chat_name", "original_sender_name", "permalink", "question_type", "severity", "rubric"}
)
"""What stays, of the fields that have a default."""


def _as_own(state: ThreadState) -> ThreadState:
    return state.evolve(**_NO_DRAFT)


def _fresh(closed: ThreadState, at: datetime) -> dict[str, Any]:
    """Return what a closed twin needs to be a new thread; the reply that stands there is not its own.

    Its mark differs from that reply's, for the message that opened it is said to be that reply.
    """
    fresh = {
        name: field.get_default()
        for name, field in ThreadState.model_fields.items()
        if name not in _OF_THE_QUESTION and not field.is_required()
    }
    opened_by = closed.posted_message_id or closed.opened_by_message_id
    changes = {"opened_by_message_id": opened_by, "draft_version": closed.draft_version + 2}
    return {**fresh, **changes, "started_at": at, "last_event_at": at}
