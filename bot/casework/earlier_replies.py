"""The newest reply that was approved to the same question in another thread, for the card of the one that asks now."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from bot.casework.freshness import StillStands
from bot.casework.thread_service import ThreadService
from bot.domain.questions.twin_threads import is_alert
from bot.domain.questions.twins import same_reason
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import EarlierReply, ThreadState

log = logging.getLogger(__name__)

EARLIER_REPLIES: Final = 500
"""How many of the newest replies are looked through."""
EARLIER_CHARS: Final = 1_000


def find_earlier(desk: ThreadService, state: ThreadState, still_stands: StillStands) -> EarlierReply | None:
    """Return the reply, and which of the lines it cites are not as they were; None if there is none."""
    for record in islice(desk.replies.newest_first(), EARLIER_REPLIES):
        question, thread_id = record.get("question"), record.get("thread_id")
        if not isinstance(question, str) or thread_id == state.thread_id or record.get("auto"):
            continue
        if same_reason(state.question, question, is_alert=is_alert(state)) is not None:
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
