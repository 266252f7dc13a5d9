"""Posts an approved reply exactly once and writes the reply log.

The intent is on disk before the post. `settle` can be called again after a crash anywhere: it looks for our post in the
thread before it posts, and for our line in the log before it writes one. A post that died with its sender may still be
on its way to the thread, so not finding it counts only after a while.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from bot.casework.desk import Desk
from bot.casework.notes import note_with_approval
from bot.domain.in_flight import may_still_come
from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason, PostIntent, Resolution, ThreadState
from bot.errors import Conflict, InputError, ProviderError, Unconfirmed

log = logging.getLogger(__name__)

LOG_TAIL_BYTES = 1024 * 1024


class ReplyInFlight(Unconfirmed):
    """A reply is not in its thread, and may yet come."""


class Replies:
    """The only way a reply reaches a thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._under_way: set[str] = set()

    def post(self, state: ThreadState, *, by: str) -> ThreadState:
        """Claim the draft for `by`, post it, log it, close the thread; returns the closed state.

        Raises:
            Conflict: somebody else claimed it first.
            ProviderError: the chat refused; the claim is withdrawn and the draft waits as before.
            Unconfirmed: nobody can tell whether it was posted; the claim stays for `settle`.
        """
        assert state.draft_hash is not None
        at = self._desk.clock.now()
        intent = PostIntent(at=at, draft_hash=state.draft_hash)

        def claim(now: ThreadState) -> ThreadState | None:
            if now.status is not state.status or now.post_intent or _draft(now) != _draft(state):
                return None
            return now.evolve(post_intent=intent, approved_by=by, user_approved_at=at)

        with self._alone(state.thread_id):
            claimed = self._desk.amend(state.thread_id, claim)
            if claimed is None:
                raise Conflict("Somebody else decided first.")
            return self._finish(claimed, posted=None)

    def settle(self, state: ThreadState) -> ThreadState:
        """Carry a claim that a crash or a broken connection interrupted to its end.

        Raises:
            Conflict: it is being posted right now, or is no longer claimed.
            InputError: the message to answer is gone; the thread is closed without a reply.
            ReplyInFlight: it is not in the thread, and may yet come.
            ProviderError, Unconfirmed: as `post` does.
        """
        with self._alone(state.thread_id):
            now = self._desk.store.get(state.thread_id)
            if now is None or now.post_intent is None or now.draft_pending is None or not now.is_open:
                raise Conflict("Nothing is left to settle.")
            posted = now.posted_message_id or self._desk.messenger.find_reply(now, now.draft_pending)
            if posted is None and not self._parent_stands(now):
                self._withdraw(now)
                raise InputError("The message to answer is gone; the thread was closed and nothing was posted.")
            if posted is None and self.is_in_flight(now):
                raise ReplyInFlight("The reply may still be on its way to the thread.")
            if posted is None:  # whoever starts after us counts from this post
                again = PostIntent(at=self._desk.clock.now(), draft_hash=now.post_intent.draft_hash)
                now = self._must_amend(now, post_intent=again)
            return self._finish(now, posted=posted)

    def is_in_flight(self, state: ThreadState) -> bool:
        """Whether a reply was sent so lately that it may yet come; an intent from the future says nothing."""
        intent = state.post_intent
        if intent is None or state.posted_message_id is not None or not state.is_open:
            return False
        return may_still_come(intent.at, self._desk.clock.now())

    @contextmanager
    def _alone(self, thread_id: str) -> Iterator[None]:
        """Let nobody else post to the thread meanwhile; a slow post is not an interrupted one."""
        with self._lock:
            if thread_id in self._under_way:
                raise Conflict("The reply is being posted right now.")
            self._under_way.add(thread_id)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.discard(thread_id)

    def _parent_stands(self, state: ThreadState) -> bool:
        """Whether there is a thread to post to: a reply without a parent would land in the channel."""
        messages = self._desk.workspace.thread(state.chat_id, state.thread_ts)
        return any(message.message_id == state.thread_ts for message in messages)

    def _withdraw(self, state: ThreadState) -> None:
        at = self._desk.clock.now()
        self._desk.amend(
            state.thread_id, lambda now: now.close(Resolution.WITHDRAWN, at=at, why="the question was deleted")
        )
        self._desk.finish(state.thread_id)

    def _finish(self, state: ThreadState, *, posted: str | None) -> ThreadState:
        if posted is None:
            posted = self._send(state)
        if state.posted_message_id is None:
            state = self._must_amend(state, posted_message_id=posted)
        if not is_edited(state) and (kept := note_with_approval(self._desk, state)):
            state = self._must_amend(state, **kept)
        if not self._is_logged(state):
            self._desk.replies.append(reply_record(state, at=self._desk.clock.now()))
        closed = self._close(state)
        self._desk.try_to_finish(state.thread_id)
        return closed

    def _send(self, state: ThreadState) -> str:
        assert state.draft_pending is not None
        try:
            return self._desk.messenger.post_reply(state, state.draft_pending)
        except Unconfirmed:
            found = self._desk.messenger.find_reply(state, state.draft_pending)
            if found is None:
                raise
            return found
        except ProviderError:
            self._must_amend(state, post_intent=None, approved_by=None, user_approved_at=None)
            raise

    def _close(self, state: ThreadState) -> ThreadState:
        edited = is_edited(state)
        closed = self._desk.amend(
            state.thread_id,
            lambda now: now.close(
                Resolution.EDITED if edited else Resolution.APPROVED,
                at=self._desk.clock.now(),
                why=f"{'edited and posted' if edited else 'approved'} by <@{state.approved_by}>",
            ),
        )
        if closed is None:
            raise Conflict("The thread was closed meanwhile.")
        return closed

    def _must_amend(self, state: ThreadState, **changes: Any) -> ThreadState:
        amended = self._desk.amend(state.thread_id, lambda now: now.evolve(**changes))
        if amended is None:
            raise Conflict("The thread was closed meanwhile.")
        return amended

    def _is_logged(self, state: ThreadState) -> bool:
        records = self._desk.replies.records(last_bytes=LOG_TAIL_BYTES)
        return any(
            record.get("thread_id") == state.thread_id and record.get("posted_message_id") == state.posted_message_id
            for record in records
        )


def _draft(state: ThreadState) -> tuple[int, str | None, tuple[str, ...]]:
    """Return what an approval is about: the draft and the doubts shown with it."""
    return state.draft_version, state.draft_hash, state.stale_reasons


def is_edited(state: ThreadState) -> bool:
    """Whether the draft's words are a human's rather than the investigator's."""
    return state.investigator_return is None or state.draft_pending != state.investigator_return.draft_reply


def reply_record(state: ThreadState, *, at: datetime) -> Mapping[str, Any]:
    """Return the line of replies.ndjson for a posted reply."""
    ret, usage = state.investigator_return, state.usage
    edited = is_edited(state)
    return {
        "chat_id": state.chat_id,
        "reply_to_message_id": state.original_message_id,
        "posted_message_id": state.posted_message_id,
        "posted_at": at.isoformat(),
        "reply_text": state.draft_pending,
        "investigator_task_id": state.investigator_task_id,
        "validator_verdict": _verdict_line(state),
        "investigator_rounds": state.investigator_round,
        "was_escalated": state.is_escalated,
        "triage_file": state.triage_file_path,
        "thread_id": state.thread_id,
        "approved_by": state.approved_by,
        "edited": edited,
        "draft_text": ret.draft_reply if ret and edited else None,
        "evidence_refs": [ref.model_dump(mode="json") for ref in ret.evidence_refs] if ret else [],
        "latency_s": round((at - state.started_at).total_seconds(), 3),
        "usage": usage.model_dump() if usage else None,
    }


def _verdict_line(state: ThreadState) -> str:
    verdict = state.validator_return
    if verdict is None or state.pending_reason in (PendingReason.FAILED, PendingReason.CONTEXT):
        return "none"
    if verdict.verdict is Verdict.PASS:
        return "pass" if state.investigator_round == 1 else "bounce-then-pass"
    return "escalate-then-user-approved"
