"""What of a thread decides whether it belongs to another that asks the same, and what it needs to be its own. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from bot.domain.paging import Paging
from bot.domain.severity import Severity
from bot.domain.threads import PostIntent, ThreadState

_OF_DRAFT: Final = (
    *("approved_by", "user_approved_at", "draft_pending", "draft_hash", "draft_edited_by"),
    *("pending_reason", "investigator"),
    *("investigator_task_id", "investigator_round", "investigator_return", "validator_task_id", "validator_return"),
)
"""What the record of a twin has of its first thread's, once that is answered."""

_OF_THE_QUESTION: Final = frozenset(
    {"chat_name", "original_sender_name", "from_bot", "permalink", "question_type", "severity", "rubric"}
)
"""Of the fields with a default, those that a closed twin keeps when it becomes a new thread."""


def may_lead(first: ThreadState, twin: ThreadState) -> bool:
    """Whether a thread may be investigated for another one: its reply is not posted yet, and it never was parted."""
    is_other = first.team_id == twin.team_id and first.thread_id != twin.thread_id and first.twin_of is None
    if not is_other or not first.is_open or first.post_intent is not None:
        return False
    return not any(known.thread_id == twin.thread_id and known.is_apart for known in first.twins)


def raised_by(first: ThreadState, twin: ThreadState, at: datetime, again_after: timedelta | None) -> ThreadState:
    """Return the first thread as a page from now on, if its twin is one; one acknowledged long ago rings again."""
    if twin.severity is not Severity.PAGE:
        return first
    if first.severity is Severity.PAGE:
        return first.evolve(paging=first.paging.raised_again(at, again_after))
    return first.evolve(severity=Severity.PAGE, paging=Paging(since=at))


def with_draft_of(first: ThreadState, twin: ThreadState, at: datetime) -> ThreadState | None:
    """Return a twin with the approved draft of its first thread and the intent to post it; None if it is none by now.

    What the investigation cost is counted once, for the first thread.
    """
    if not twin.is_open or twin.twin_of != first.thread_id or twin.post_intent or first.draft_hash is None:
        return None
    intent = PostIntent(at=at, draft_hash=first.draft_hash, doubts=len(twin.doubts), is_unsent=True)
    shared = {name: getattr(first, name) for name in (*_OF_DRAFT, "draft_version", "is_escalated")}
    return twin.evolve(post_intent=intent, **shared)


def as_own(state: ThreadState) -> ThreadState:
    """Return a twin as a thread of its own, without the first thread's draft."""
    empty = {name: ThreadState.model_fields[name].get_default() for name in _OF_DRAFT}
    return state.evolve(twin_of=None, post_intent=None, **empty)


def fresh(closed: ThreadState, at: datetime) -> dict[str, Any]:
    """Return what a closed twin needs to be a new thread; the reply that stands there is not its own.

    Its mark differs from that reply's, for the message that opened it is said to be that reply.
    """
    defaults = {
        name: field.get_default()
        for name, field in ThreadState.model_fields.items()
        if name not in _OF_THE_QUESTION and not field.is_required()
    }
    opened_by = closed.posted_message_id or closed.opened_by_message_id
    changes = {"opened_by_message_id": opened_by, "draft_version": closed.draft_version + 2}
    return {**defaults, **changes, "started_at": at, "last_event_at": at}
