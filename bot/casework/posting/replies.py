"""Posts an approved reply exactly once and writes the reply log.

The intent is stored before the post. `settle` can be called again after a crash anywhere: it looks for our post in the
thread before it posts, and for our line in the log before it writes one. A post of a process that died may still be on
its way, so its absence counts only after a while. A late post is made only if nothing changed since the approval and
the approval is recent; else the draft waits for a human again. A reply that another process posted (a second replica,
the time before a restored backup) is adopted: it is logged and the thread closes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

from bot.casework.posting.freshness import StillStands, find_changes
from bot.casework.posting.reply_log import is_auto, is_logged, reply_record
from bot.casework.thread_service import ThreadService
from bot.domain.doubts import Doubt, DoubtCode
from bot.domain.questions.autonomy_record import AutoJudgement
from bot.domain.questions.twins import with_draft_of
from bot.domain.text.humanize import utc_text
from bot.domain.threads import PostIntent, Resolution, ThreadState, hash_draft, reply_mark
from bot.errors import ConfigError, Conflict, InputError, ProviderError, StoreError, Unconfirmed
from bot.ports import ChatMessage
from bot.ports.chat import may_still_arrive

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
    """The reply is being posted just now, here or by another replica."""


class GivenBack(InputError):
    """A reply was not posted in time, or something changed meanwhile: its draft waits for a human again."""


class Replies:
    """The only way a reply reaches a thread; `still_stands` is what `find_changes` asks about citations."""

    def __init__(self, service: ThreadService, still_stands: StillStands) -> None:
        self._service, self._still_stands = service, still_stands
        self._lock, self._claiming = threading.Lock(), threading.Lock()
        self._under_way: set[str] = set()
        self._unsettled: set[str] = set()
        self._sent_at: dict[str, datetime] = {}

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
        assert state.draft_hash is not None
        at = self._service.clock.now()
        intent = PostIntent(
            at=at,
            draft_hash=state.draft_hash,
            doubts=len(state.doubts),
            twins=tuple(twins),
            is_auto=auto is not None,
            is_unsent=True,
        )
        claims = {"approved_by": by, "user_approved_at": at} if auto is None else {"auto": auto}

        def claim(now: ThreadState) -> ThreadState | None:
            if now.status is not state.status or now.post_intent or _draft(now) != _draft(state):
                return None
            return now.evolve(post_intent=intent, **claims)

        with ExitStack() as alone:
            with self._claiming:  # whoever comes second finds on file who was first
                alone.enter_context(self._alone(state.thread_id))
                claimed = self._service.store.amend(state.thread_id, claim)
            if claimed is None:
                raise Conflict("Another person decided first.")
            return self._finish(claimed, posted=None)

    def settle(self, state: ThreadState, *, clicked_by: str | None = None) -> ThreadState:
        """Carry a claim that a crash or a broken connection interrupted to its end.

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
                self._forget(state.thread_id)
                raise Conflict("Nothing is left to do.")
            if now.posted_message_id is not None:
                return self._finish(now, posted=now.posted_message_id)
            messages = self._service.workspace.thread(now.chat_id, now.thread_ts)
            if (reply := standing_reply(now, messages)) is not None:
                self._delete_younger(now, reply, messages)
                return self._adopt(now, reply)
            posted = self._service.messenger.find_reply(now)
            if posted is None:
                now = self._claim_again(now, messages, clicked_by)
            return self._finish(now, posted=posted)

    def adopt(self, state: ThreadState, reply: ChatMessage) -> ThreadState:
        """Close an open thread whose reply stands in it already, with the words that stand there; logs it.

        Raises:
            Conflict: it is being posted right now, or the thread was closed meanwhile.
        """
        log.warning("a reply stood in its thread already", extra={"action": "adopted", "thread_id": state.thread_id})
        with self._alone(state.thread_id):
            return self._adopt(state, reply)

    def adopt_standing(self, state: ThreadState, messages: Sequence[ChatMessage]) -> bool:
        """Adopt the reply that stands in an open thread already; False where there is none. Raises as `adopt`."""
        reply = standing_reply(state, messages)
        if reply is not None:
            self.adopt(state, reply)
        return reply is not None

    def unsettled(self) -> frozenset[str]:
        """Return the ids of threads whose post nobody can confirm, of this process and of those `recall` named."""
        with self._lock:
            return frozenset(self._unsettled)

    def recall(self, thread_id: str) -> None:
        """Name a thread whose post an earlier process left unconfirmed."""
        with self._lock:
            self._unsettled.add(thread_id)

    def _forget(self, thread_id: str) -> None:
        """Remember no more of a thread whose post is settled."""
        self._unsettled.discard(thread_id)
        self._sent_at.pop(thread_id, None)

    def is_in_flight(self, state: ThreadState) -> bool:
        """Whether a reply was sent so lately that it may yet come; an intent from the future says nothing."""
        intent = state.post_intent
        if intent is None or state.posted_message_id is not None or not state.is_open:
            return False
        if intent.is_unsent:
            return False
        now, is_own = self._service.clock.now(), self._sent_at.get(state.thread_id) == intent.at
        if is_own and not intent.is_slow:
            return may_still_arrive(intent.at, now)
        return timedelta() <= now - intent.at < SLOW_IN_FLIGHT

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

    def _adopt(self, state: ThreadState, reply: ChatMessage) -> ThreadState:
        now = self._service.store.amend(state.thread_id, lambda now: _with_posted(now, reply) if now.is_open else None)
        if now is None:
            raise Conflict("The thread was closed meanwhile.")
        return self._finish(now, posted=reply.message_id)

    def _claim_again(self, state: ThreadState, messages: Sequence[ChatMessage], clicked_by: str | None) -> ThreadState:
        """Return the thread with a new intent if its reply, which stands nowhere, may be posted now; raises if not."""
        assert state.post_intent is not None
        if not any(message.message_id == state.thread_ts for message in messages):  # it would land in the channel
            self._withdraw(state)
            raise InputError("The message to answer is gone; the thread was closed and nothing was posted.")
        if self.is_in_flight(state):
            raise ReplyInFlight("The reply may still be on its way to the thread.")
        at = self._service.clock.now()
        approved_at = state.user_approved_at or state.post_intent.at
        changes = find_changes(self._service, state, self._still_stands, messages)
        doubts = state.with_doubts(changes).doubts
        if state.post_intent.is_auto:
            self._give_back(state, "Slack did not confirm it, and what nobody approved is not sent twice", doubts)
        if len(doubts) > state.post_intent.doubts:
            self._give_back(state, next((each for each in changes if each.is_hard), doubts[-1]).text, doubts)
        # whoever starts after us counts from it
        again = state.post_intent.model_copy(update={"at": at, "is_slow": False, "is_unsent": True})
        if timedelta() <= at - approved_at <= POST_WITHIN:
            return self._must_amend(state, post_intent=again)
        if clicked_by is None:
            self._give_back(state, f"it was approved more than {POST_WITHIN.seconds // 60} minutes ago", doubts)
        return self._must_amend(state, post_intent=again, approved_by=clicked_by, user_approved_at=at)

    def _give_back(self, state: ThreadState, why: str, doubts: Sequence[Doubt]) -> None:
        """Let the draft wait for a human again, who reads on the card what happened; raises GivenBack."""
        assert state.post_intent is not None
        approved_at = state.user_approved_at or state.post_intent.at
        about = f"{utc_text(approved_at)}; it was not posted: {why}"
        told = Doubt(code=DoubtCode.NOT_POSTED, by=str(state.approved_by), about=about)
        if state.approved_by is None:
            told = Doubt(code=DoubtCode.NOT_SENT, about=about)
        doubted = state.in_doubt((*doubts, told))
        self._unclaim(state, doubts=doubted.doubts, stale_reasons=doubted.stale_reasons)
        self._service.cards.show_later(state.thread_id)
        raise GivenBack(
            f"Not posted: {why}. The draft waits on its card again: read it, then post, edit or dismiss it."
        )

    def _withdraw(self, state: ThreadState) -> None:
        at = self._service.clock.now()
        self._service.store.amend(
            state.thread_id, lambda now: now.close(Resolution.WITHDRAWN, at=at, why="the question was deleted")
        )
        self._forget(state.thread_id)
        self._service.cards.finish(state.thread_id)

    def _finish(self, state: ThreadState, *, posted: str | None) -> ThreadState:
        if posted is None:
            try:
                state = self._sending(state)
            except StoreError:
                self.recall(state.thread_id)  # nothing was sent: the running process tries again
                raise
            posted = self._send(state)
            if (first := self._first_reply(state, posted)) is not None:
                return self._adopt(state, first)
        if state.posted_message_id is None:
            state = self._must_amend(state, posted_message_id=posted)
        if not is_logged(self._service.replies, state):
            self._service.replies.append(reply_record(state, at=self._service.clock.now()))
        twins = self._claim_twins(state)
        closed = self._close(state)
        self._forget(state.thread_id)
        self._service.cards.try_to_finish(state.thread_id)
        for twin in twins:
            self._post_twin(twin)
        return closed

    def _claim_twins(self, state: ThreadState) -> list[ThreadState]:
        """Claim the draft for the chosen twins; on file before the first thread closes, so no crash forgets one."""
        chosen = state.post_intent.twins if state.post_intent else ()
        at = self._service.clock.now()
        claims = [self._service.store.amend(twin, lambda now: with_draft_of(state, now, at)) for twin in chosen]
        return [claim for claim in claims if claim is not None]

    def _post_twin(self, twin: ThreadState) -> None:
        """Post a claimed reply; the thread of one that is refused is looked at anew."""
        try:
            with self._alone(twin.thread_id):
                self._finish(twin, posted=None)
        except (ProviderError, Conflict):
            extra = {"action": "twin_unanswered", "thread_id": twin.thread_id}
            log.warning("a twin is not answered yet", extra=extra, exc_info=True)

    def _sending(self, state: ThreadState) -> ThreadState:
        """Note on file that the reply is being sent; who finds it so after our death waits for it."""
        assert state.post_intent is not None
        at = self._service.clock.now()
        self._sent_at[state.thread_id] = at
        intent = state.post_intent.model_copy(update={"at": at, "is_unsent": False})
        return self._must_amend(state, post_intent=intent)

    def _send(self, state: ThreadState) -> str:
        assert state.draft_pending is not None
        try:
            return self._service.messenger.post_reply(state, state.draft_pending)
        except Unconfirmed:
            try:
                found = self._service.messenger.find_reply(state)
            except ProviderError:
                found = None  # nobody can tell, and that is what the caller must know
            if found is None:
                with suppress(StoreError):  # the post is settled all the same, only sooner
                    self._note_slow(state)
                raise
            return found
        except ProviderError:
            self._unclaim(state)
            raise

    def _unclaim(self, state: ThreadState, **changes: Any) -> None:
        """Let nobody have approved the draft; a twin, whose first thread has ended, is looked at anew."""
        self._must_amend(state, post_intent=None, approved_by=None, user_approved_at=None, **changes)
        self._forget(state.thread_id)
        if state.twin_of is not None:
            self._service.queue(state.thread_id)

    def _note_slow(self, state: ThreadState) -> None:
        """Note of a post that was given up after long that it may come later than one that broke off at once."""
        intent = state.post_intent
        if intent is not None and not may_still_arrive(intent.at, self._service.clock.now()):
            slow = intent.model_copy(update={"is_slow": True})
            self._service.store.amend(
                state.thread_id, lambda now: now.evolve(post_intent=slow) if now.post_intent == intent else None
            )

    def _first_reply(self, state: ThreadState, posted: str) -> ChatMessage | None:
        """Return the older reply that another process posted in the same moment, if any; ours is deleted then."""
        try:
            first = standing_reply(state, self._service.workspace.thread(state.chat_id, state.thread_ts))
            if first is None or float(first.message_id) >= float(posted):
                return None
            self._service.messenger.delete_reply(state, posted)
        except ProviderError:
            log.warning("a second reply may stand", extra={"action": "second_reply"}, exc_info=True)
            return None
        return first

    def _delete_younger(self, state: ThreadState, first: ChatMessage, messages: Sequence[ChatMessage]) -> None:
        """Delete what was posted beside the first reply by a process that died before it could look."""
        mark = (first.reply_mark or "").rpartition(":")[0]
        for other in messages:
            if other is not first and (other.reply_mark or "").rpartition(":")[0] == mark:
                try:
                    self._service.messenger.delete_reply(state, other.message_id)
                except ProviderError:
                    log.warning("a second reply may stand", extra={"action": "second_reply"}, exc_info=True)

    def _close(self, state: ThreadState) -> ThreadState:
        edited = state.has_edited_draft
        closed = self._service.store.amend(
            state.thread_id,
            lambda now: now.close(
                Resolution.EDITED if edited else Resolution.AUTO if is_auto(state) else Resolution.APPROVED,
                at=self._service.clock.now(),
                why=_why_closed(state, edited=edited),
            ),
        )
        if closed is None:
            raise Conflict("The thread was closed meanwhile.")
        return closed

    def _must_amend(self, state: ThreadState, **changes: Any) -> ThreadState:
        amended = self._service.store.evolve(state.thread_id, **changes)
        if amended is None:
            raise Conflict("The thread was closed meanwhile.")
        return amended


def standing_reply(state: ThreadState, messages: Sequence[ChatMessage]) -> ChatMessage | None:
    """Return the reply to this very question among a thread's messages, whichever process of the bot posted it."""
    mark = reply_mark(state)
    return next((m for m in messages if m.reply_mark and m.reply_mark.rpartition(":")[0] == mark), None)


def _with_posted(state: ThreadState, reply: ChatMessage) -> ThreadState:
    """Return the thread with a reply as its draft: with the words that were posted, if they are not the draft's."""
    posted_hash = (reply.reply_mark or "").rpartition(":")[2]
    if state.draft_pending is None or hash_draft(state.draft_pending) != posted_hash:
        state = state.with_draft(reply.text)
    return state.evolve(posted_message_id=reply.message_id)


def _why_closed(state: ThreadState, *, edited: bool) -> str:
    if is_auto(state):
        return "sent automatically: every condition held"
    if state.approved_by is None:
        return "its reply was already in the thread, posted by another process or before a restore"
    return f"{'edited and posted' if edited else 'approved'} by <@{state.approved_by}>"


def _draft(state: ThreadState) -> tuple[int, str | None, tuple[Doubt, ...]]:
    """Return what an approval is about: the draft and the doubts shown with it."""
    return state.draft_version, state.draft_hash, state.doubts
