"""The steps of a draft on its way to its thread: the claim of who approved it, and the end once it is posted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.domain.questions.autonomy_record import AutoJudgement
from bot.domain.threads import PostIntent, Resolution, ThreadState


def claimed_as_seen(
    now: ThreadState,
    seen: ThreadState,
    *,
    at: datetime,
    by: str | None,
    twins: Sequence[str] = (),
    auto: AutoJudgement | None = None,
) -> ThreadState | None:
    """Return the thread with its draft claimed; None where it is not as `seen`: another draft, doubt, step or claim.

    `by` is who approved it; with `auto` nobody did. The intent says that the post is sent at `at`.
    """
    assert seen.draft_hash is not None
    if now.status is not seen.status or now.post_intent or _draft(now) != _draft(seen):
        return None
    intent = PostIntent(
        at=at, draft_hash=seen.draft_hash, doubts=len(seen.doubts), twins=tuple(twins), is_auto=auto is not None
    )
    claim = {"approved_by": by, "user_approved_at": at} if auto is None else {"auto": auto}
    return now.evolve(post_intent=intent, **claim)


def _draft(state: ThreadState) -> tuple[Any, ...]:
    """Return what an approval is about: the draft and the doubts shown with it."""
    return state.draft_version, state.draft_hash, state.doubts


def is_auto(state: ThreadState) -> bool:
    """Whether a thread's reply was claimed by no human."""
    return state.post_intent is not None and state.post_intent.is_auto


def replied(now: ThreadState, posted: ThreadState, *, at: datetime) -> ThreadState | None:
    """Return the thread closed with the words and the message id of `posted`; None where it is closed already."""
    if not now.is_open:
        return None
    ending = Resolution.AUTO if is_auto(posted) else Resolution.APPROVED
    ending = Resolution.EDITED if posted.has_edited_draft else ending
    words = ("draft_pending", "draft_version", "draft_hash", "draft_edited_by", "posted_message_id")
    return now.close(ending, at=at, why=_why(posted), **{name: getattr(posted, name) for name in words})


def _why(posted: ThreadState) -> str:
    if is_auto(posted):
        return "sent automatically: every condition held"
    if posted.approved_by is None:
        return "its reply was already in the thread, posted by another process or before a restore"
    return f"{'edited and posted' if posted.has_edited_draft else 'approved'} by <@{posted.approved_by}>"
