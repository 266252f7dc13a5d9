"""The records of the journal of posted replies, replies.ndjson."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason, ThreadState
from bot.ports import Journal

LOG_TAIL_BYTES: Final = 1024 * 1024


def is_auto(state: ThreadState) -> bool:
    """Whether a thread's reply was claimed by no human."""
    return state.post_intent is not None and state.post_intent.is_auto


def reply_record(state: ThreadState, *, at: datetime) -> Mapping[str, Any]:
    """Return the line of replies.ndjson for a posted reply."""
    ret, usage = state.investigator_return, state.usage
    edited = state.has_edited_draft
    return {
        "question": state.question,
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
        "claims": [claim.model_dump(mode="json") for claim in ret.said_claims] if ret and not edited else [],
        "latency_s": round((at - state.started_at).total_seconds(), 3),
        "usage": usage.model_dump() if usage else None,
        **({"twin_of": state.twin_of} if state.twin_of else {}),
        **({"auto": True} if is_auto(state) else {}),
    }


def _verdict_line(state: ThreadState) -> str:
    verdict = state.validator_return
    if verdict is None or state.pending_reason in (PendingReason.FAILED, PendingReason.CONTEXT):
        return "none"
    if verdict.verdict is Verdict.PASS:
        return "pass" if state.investigator_round == 1 else "bounce-then-pass"
    return "escalate-then-user-approved"


def is_logged(replies: Journal, state: ThreadState) -> bool:
    """Whether the log has the line of a thread's posted reply."""
    posted = (state.thread_id, state.posted_message_id)
    records = replies.records(last_bytes=LOG_TAIL_BYTES)
    return any((record.get("thread_id"), record.get("posted_message_id")) == posted for record in records)
