"""The records of the journal of posted replies, replies.ndjson."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from bot.domain.drafts import is_auto
from bot.domain.questions.twins import keys_of, question_keys
from bot.domain.returns import EvidenceKind, EvidenceRef, Verdict
from bot.domain.threads import EarlierReply, PendingReason, ThreadState
from bot.ports import Journal

log = logging.getLogger(__name__)

LOG_TAIL_BYTES: Final = 1024 * 1024
EARLIER_REPLIES: Final = 500
"""How many of the newest replies are looked through for an answer to the same question."""

EARLIER_CHARS: Final = 1_000


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
        "evidence_refs": [ref.model_dump(mode="json") for ref in _refs_of_reply(state)],
        "claims": [claim.model_dump(mode="json") for claim in ret.said_claims] if ret and not edited else [],
        "latency_s": round((at - state.started_at).total_seconds(), 3),
        "usage": usage.model_dump() if usage else None,
        **({"twin_of": state.twin_of} if state.twin_of else {}),
        **({"fingerprint": state.alert.fingerprint} if state.alert else {}),
        **({"auto": True} if is_auto(state) else {}),
    }


def _refs_of_reply(state: ThreadState) -> Iterator[EvidenceRef]:
    """Yield what the reply cites: all that its draft does, or of those what a human's words still name."""
    for ref in state.evidence_refs:
        if not state.has_edited_draft or (ref.ref.rpartition(":")[0] or ref.ref) in (state.draft_pending or ""):
            yield ref


def _verdict_line(state: ThreadState) -> str:
    verdict = state.validator_return
    if verdict is None or state.pending_reason in (PendingReason.FAILED, PendingReason.CONTEXT):
        return "none"
    if verdict.verdict is Verdict.PASS:
        return "pass" if state.investigator_round == 1 else "bounce-then-pass"
    return "escalate-then-user-approved"


def is_logged(replies: Journal, state: ThreadState) -> bool:
    """Whether the log has the line of a thread's posted reply."""
    return any(line.get("posted_message_id") == state.posted_message_id for line in _lines_of(replies, state))


def logged_claim(replies: Journal, state: ThreadState) -> str | None:
    """Return as what message the log says that a claimed draft was posted; None where it does not say so."""
    claimed_at = state.user_approved_at or (state.post_intent.at if state.post_intent else state.started_at)
    lines = [(posted_at(line), line.get("posted_message_id")) for line in _lines_of(replies, state)]
    return next((posted for at, posted in reversed(lines) if at is not None and at >= claimed_at), None)


def posted_at(line: Mapping[str, Any]) -> datetime | None:
    """Return when the reply of a line was posted; None where the line does not say so."""
    try:
        at = datetime.fromisoformat(str(line.get("posted_at")))
    except ValueError:
        return None
    return at if at.tzinfo else None


def _lines_of(replies: Journal, state: ThreadState) -> Iterator[Mapping[str, Any]]:
    records = replies.records(last_bytes=LOG_TAIL_BYTES)
    return (record for record in records if record.get("thread_id") == state.thread_id)


def earlier_reply(
    replies: Journal, state: ThreadState, still_stands: Callable[[EvidenceRef], bool]
) -> EarlierReply | None:
    """Return the newest approved reply to the same question or alert in another thread, if there is one."""
    keys = keys_of(state)
    for record in islice(replies.newest_first(), EARLIER_REPLIES if keys else 0):
        said = question_keys(str(record.get("question") or ""), str(record.get("fingerprint") or ""))
        if not said.isdisjoint(keys) and record.get("thread_id") != state.thread_id and not record.get("auto"):
            return _read(record, still_stands)
    return None


def _read(record: Mapping[str, Any], still_stands: Callable[[EvidenceRef], bool]) -> EarlierReply | None:
    """Return a reply, and which of the lines it cites are not as they were; None for a record of another shape."""
    try:
        refs = [EvidenceRef.model_validate(ref) for ref in record.get("evidence_refs") or ()]
        return EarlierReply(
            chat_id=record["chat_id"],
            message_id=record["posted_message_id"],
            text=str(record["reply_text"])[:EARLIER_CHARS],
            posted_at=record["posted_at"],
            approved_by=record.get("approved_by"),
            changed=tuple(ref.ref for ref in refs if ref.kind is EvidenceKind.FILE and not still_stands(ref)),
        )
    except (KeyError, ValidationError):
        log.warning("an earlier reply could not be read", extra={"action": "reply_unread"}, exc_info=True)
        return None
