"""Posts an approved reply exactly once and writes the reply log.

One road for an approval, for what a crash interrupted and for twins: the claim (`post_intent`) is on file, the thread
is looked through for our post, then it is posted, logged and the thread closed. A post of a process that died may still
be on its way, so its absence counts only after a while. A late post is made only if nothing changed since the approval
and the approval is recent; else the draft waits for a human again. A reply that another process posted (a second
replica, the time before a restored backup) is adopted: it is logged and the thread closes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import Any, Final, NoReturn

from bot.casework.posting.freshness import StillStands, find_changes
from bot.casework.posting.reply_proof import is_logged, logged_claim, reply_record
from bot.casework.thread_service import ThreadService
from bot.domain.drafts import claimed_as_seen, replied
from bot.domain.questions.autonomy_record import AutoJudgement
from bot.domain.questions.twins import with_draft_of
from bot.domain.text.humanize import utc_text
from bot.domain.threads import ThreadState, hash_draft, reply_mark
from bot.domain.waits import Doubt, DoubtCode
from bot.errors import ConfigError, Conflict, InputError, ProviderError, StoreError, TriageError, Unconfirmed
from bot.ports import ChatMessage
from bot.ports.chat import IN_FLIGHT, may_still_arrive

log = logging.getLogger(__name__)

POST_WITHIN: Final = timedelta(minutes=5)
"""How old an approval may be when its reply is posted without another click."""


SLOW_IN_FLIGHT: Final = timedelta(seconds=50)
"""How long a post may take to appear after the chat gave no answer to it for longer than `IN_FLIGHT`.

The same holds for one whose sender died: nobody knows how long the chat had it already.
"""


class ReplyInFlight(Unconfirmed):
    """A reply is not in its thread, and may yet come."""


class BeingPosted(Conflict):
    """The reply is being posted right now."""


class GivenBack(InputError):
    """A reply was not posted in time, or something changed meanwhile: its draft waits for a human again."""


class Replies:
    """The only way a reply reaches a thread; `still_stands` is what `find_changes` asks about citations."""

    def __init__(self, service: ThreadService, still_stands: StillStands) -> None:
        self._service, self._still_stands = service, still_stands
        self._lock, self._claiming = threading.Lock(), threading.Lock()
        self._under_way: set[str] = set()
        self._unsettled: dict[str, timedelta] = {}
        """The threads whose post nobody can confirm, and how long after it was sent that may still arrive."""

    def post(
        self, state: ThreadState, *, by: str | None, twins: Sequence[str] = (), auto: AutoJudgement | None = None
    ) -> ThreadState:
        """Claim the draft for `by`, post it, log it, close the thread; returns the closed state.

        With `auto` nobody approved it, and that judgement let it be sent. Then the same in the threads of those
        `twins`, one after the other; what of them fails is settled later.

        Raises:
            Conflict: somebody else claimed it first.
            ProviderError: the chat refused; the claim is withdrawn and the draft waits as before.
            Unconfirmed: nobody can tell whether it was posted; the claim stays for `settle`, the thread is `unsettled`.
        """
        at = self._service.clock.now()
        with ExitStack() as alone:
            with self._claiming:  # whoever comes second finds on file who was first
                alone.enter_context(self._alone(state.thread_id))
                claimed = self._service.store.amend(
                    state.thread_id, lambda now: claimed_as_seen(now, state, at=at, by=by, twins=twins, auto=auto)
                )
            if claimed is None:
                raise Conflict("Another person decided first.")
            try:
                return self._send(claimed)
            except StoreError:  # it was sent perhaps; the running process looks
                self.recall(state.thread_id)
                raise

    def settle(self, state: ThreadState, *, clicked_by: str | None = None) -> ThreadState:
        """Carry a claim to its end that was not sent yet, or that a crash or a broken connection interrupted.

        `clicked_by` is who asks for the same post once more, so that its first approval may be old.

        Raises:
            Conflict: it is being posted right now, or is no longer claimed.
            GivenBack: it is not in the thread, and may not be posted any more without a human.
            InputError: the message to answer is gone; the thread is closed without a reply.
            ReplyInFlight: it is not in the thread, and may yet come.
            ProviderError, Unconfirmed: as `post` does.
        """
        with self._alone(state.thread_id):
            now = self._service.store.get(state.thread_id)
            if now is None or now.post_intent is None or now.draft_pending is None or not now.is_open:
                self._unsettled.pop(state.thread_id, None)
                raise Conflict("Nothing is left to do.")
            if (posted := now.posted_message_id or logged_claim(self._service.replies, now)) is not None:
                return self._complete(now, posted)
            messages = self._service.workspace.thread(now.chat_id, now.thread_ts)
            if (reply := self._only_reply(now, messages)) is not None:
                return self._complete(with_words_of(now, reply), reply.message_id)
            return self._send(self._claimed_again(now, messages, clicked_by))

    def adopt_standing(self, state: ThreadState, messages: Sequence[ChatMessage]) -> bool:
        """Close an open thread whose reply stands in it already, with the words that stand there; logs it.

        Returns False where there is none.

        Raises:
            Conflict: it is being posted right now, or the thread was closed meanwhile.
        """
        reply = standing_reply(state, messages)
        if reply is not None:
            extra = {"action": "adopted", "thread_id": state.thread_id}
            log.warning("a reply stood in its thread already", extra=extra)
            with self._alone(state.thread_id):
                self._complete(with_words_of(state, reply), reply.message_id)
        return reply is not None

    def unsettled(self) -> frozenset[str]:
        """Return the ids of threads whose post nobody can confirm, of this process and of those `recall` named."""
        with self._lock:
            return frozenset(self._unsettled)

    def recall(self, thread_id: str) -> None:
        """Name a thread whose post was not confirmed or not made; nobody knows how long the chat has it already."""
        with self._lock:
            self._unsettled.setdefault(thread_id, SLOW_IN_FLIGHT)

    def is_in_flight(self, state: ThreadState) -> bool:
        """Whether a reply was sent so lately that it may yet come; an intent from the future says nothing."""
        intent = state.post_intent
        if intent is None or intent.is_unsent or not state.is_open:
            return False
        longest = self._unsettled.get(state.thread_id, SLOW_IN_FLIGHT)
        return timedelta() <= self._service.clock.now() - intent.at < longest

    @contextmanager
    def _alone(self, thread_id: str) -> Iterator[None]:
        """Let nobody else post to the thread meanwhile; a slow post is not an interrupted one."""
        with self._lock:
            if thread_id in self._under_way:
                raise BeingPosted("The reply is being posted right now.")
            self._under_way.add(thread_id)
        try:
            with self._alone_of_replicas(thread_id):
                yield
        except Unconfirmed:
            self.recall(thread_id)
            raise
        finally:
            with self._lock:
                self._under_way.discard(thread_id)

    @contextmanager
    def _alone_of_replicas(self, thread_id: str) -> Iterator[None]:
        """Hold the thread's lease; a replica that comes back after it lost that can write nothing more."""
        if self._service.leases is None:
            yield
            return
        try:
            lease = self._service.leases.take(f"reply.{thread_id}")
        except ConfigError as error:
            raise BeingPosted("The reply is being posted right now.") from error
        try:
            with lease.fenced():
                yield
        finally:
            with suppress(StoreError):  # it expires
                lease.release()

    def _claimed_again(
        self, state: ThreadState, messages: Sequence[ChatMessage], clicked_by: str | None
    ) -> ThreadState:
        """Return the thread with a new intent if its reply, which stands nowhere, may be posted now; raises if not."""
        intent, at = state.post_intent, self._service.clock.now()
        assert intent is not None
        if not any(message.message_id == state.thread_ts for message in messages):  # it would land in the channel
            self._service.store.amend(state.thread_id, lambda now: now.withdrawn(at=at))
            self._unsettled.pop(state.thread_id, None)
            self._service.cards.finish(state.thread_id)
            raise InputError("The message to answer is gone; the thread was closed and nothing was posted.")
        if self.is_in_flight(state):
            raise ReplyInFlight("The reply may still be on its way to the thread.")
        changes = find_changes(self._service, state, self._still_stands, messages)
        doubts = state.with_doubts(changes).doubts
        if intent.is_auto:
            self._give_back(state, "Slack did not confirm it, and what nobody approved is not sent twice", doubts)
        if len(doubts) > intent.doubts:
            self._give_back(state, next((each for each in changes if each.is_hard), doubts[-1]).text, doubts)
        approval: dict[str, Any] = {}
        if not timedelta() <= at - (state.user_approved_at or intent.at) <= POST_WITHIN:
            if clicked_by is None:
                self._give_back(state, f"it was approved more than {POST_WITHIN.seconds // 60} minutes ago", doubts)
            approval = {"approved_by": clicked_by, "user_approved_at": at}
        again = intent.model_copy(update={"at": at, "is_unsent": False})  # whoever starts after us counts from it
        return self._must_evolve(state, post_intent=again, **approval)

    def _give_back(self, state: ThreadState, why: str, doubts: Sequence[Doubt]) -> NoReturn:
        """Let the draft wait for a human again, who reads on the card what happened."""
        assert state.post_intent is not None
        about = f"{utc_text(state.user_approved_at or state.post_intent.at)}; it was not posted: {why}"
        told = Doubt(code=DoubtCode.NOT_SENT, about=about)
        if state.approved_by is not None:
            told = Doubt(code=DoubtCode.NOT_POSTED, by=state.approved_by, about=about)
        doubted = state.in_doubt((*doubts, told))
        self._unclaim(state, doubts=doubted.doubts, stale_reasons=doubted.stale_reasons)
        self._service.cards.show_later(state.thread_id)
        raise GivenBack(
            f"Not posted: {why}. The draft waits on its card again: read it, then post, edit or dismiss it."
        )

    def _send(self, state: ThreadState) -> ThreadState:
        """Post a claimed draft and bring its thread to its end; of two replies made at one moment the older stays."""
        assert state.draft_pending is not None
        sent_at = self._service.clock.now()
        posted = None
        try:
            posted = self._service.messenger.post_reply(state, state.draft_pending)
        except Unconfirmed:
            is_quick = may_still_arrive(sent_at, self._service.clock.now())
            self._unsettled[state.thread_id] = IN_FLIGHT if is_quick else SLOW_IN_FLIGHT
            if (reply := self._reply_in_thread(state)) is None:
                raise
        except ProviderError:
            self._unclaim(state)
            raise
        else:
            reply = self._reply_in_thread(state)
        if reply is not None:
            state, posted = with_words_of(state, reply), reply.message_id
        assert posted is not None
        return self._complete(state, posted)

    def _reply_in_thread(self, state: ThreadState) -> ChatMessage | None:
        """Return the reply that stands in the thread now; None where there is none, or the chat cannot say."""
        try:
            return self._only_reply(state, self._service.workspace.thread(state.chat_id, state.thread_ts))
        except ProviderError:
            log.warning("a reply was not looked for", extra={"action": "reply_unread"}, exc_info=True)
            return None

    def _only_reply(self, state: ThreadState, messages: Sequence[ChatMessage]) -> ChatMessage | None:
        """Return the oldest reply to the question; what other processes posted beside it is deleted."""
        ours = [one for one in messages if is_reply_to(state, one)]
        for other in ours[1:]:
            try:
                self._service.messenger.delete_reply(state, other.message_id)
            except ProviderError:
                log.warning("a second reply may stand", extra={"action": "second_reply"}, exc_info=True)
        return ours[0] if ours else None

    def _complete(self, state: ThreadState, posted: str) -> ThreadState:
        """Log the reply that stands in the thread as `posted`, close the thread, and go on with its twins."""
        at = self._service.clock.now()
        state = state.evolve(posted_message_id=posted)
        if not is_logged(self._service.replies, state):
            self._service.replies.append(reply_record(state, at=at))
        # on file before the first thread closes, so no crash forgets one
        chosen = state.post_intent.twins if state.post_intent else ()
        twins = [self._service.store.amend(twin, lambda now: with_draft_of(state, now, at)) for twin in chosen]
        closed = self._service.store.amend(state.thread_id, lambda now: replied(now, state, at=at))
        if closed is None:
            raise Conflict("The thread was closed meanwhile.")
        self._unsettled.pop(state.thread_id, None)
        self._service.cards.try_to_finish(state.thread_id)
        for twin in filter(None, twins):
            self._post_twin(twin)
        return closed

    def _post_twin(self, twin: ThreadState) -> None:
        """Post a claimed reply; what of it fails is settled later, and a thread that is refused is looked at anew."""
        try:
            self.settle(twin)
        except TriageError:
            extra = {"action": "twin_unanswered", "thread_id": twin.thread_id}
            log.warning("a twin is not answered yet", extra=extra, exc_info=True)
            now = self._service.store.get(twin.thread_id)
            if now is not None and now.post_intent is not None:
                self.recall(twin.thread_id)

    def _unclaim(self, state: ThreadState, **changes: Any) -> None:
        """Let nobody have approved the draft; a twin, whose first thread has ended, is looked at anew."""
        self._must_evolve(state, post_intent=None, approved_by=None, user_approved_at=None, **changes)
        self._unsettled.pop(state.thread_id, None)
        if state.twin_of is not None:
            self._service.queue(state.thread_id)

    def _must_evolve(self, state: ThreadState, **changes: Any) -> ThreadState:
        evolved = self._service.store.evolve(state.thread_id, **changes)
        if evolved is None:
            raise Conflict("The thread was closed meanwhile.")
        return evolved


def is_reply_to(state: ThreadState, message: ChatMessage) -> bool:
    """Whether a message is the reply to this very question, whichever process of the bot posted it."""
    return (message.reply_mark or "").rpartition(":")[0] == reply_mark(state)


def standing_reply(state: ThreadState, messages: Sequence[ChatMessage]) -> ChatMessage | None:
    """Return the reply to this very question among a thread's messages."""
    return next((one for one in messages if is_reply_to(state, one)), None)


def with_words_of(state: ThreadState, reply: ChatMessage) -> ThreadState:
    """Return the thread with the words that were posted as its draft, if they are not the draft's."""
    posted_hash = (reply.reply_mark or "").rpartition(":")[2]
    is_same = state.draft_pending is not None and hash_draft(state.draft_pending) == posted_hash
    return state if is_same else state.with_draft(reply.text)
