"""Investigates again what was answered from part of the codebase, once its index is finished.

Only a draft that nobody has touched is made anew: words that a human edited, a reply that is being posted and a
question that changed meanwhile stay with the human.
"""

from __future__ import annotations

import logging

from bot.casework.orchestrator import reopen
from bot.casework.thread_service import ThreadService
from bot.domain.jobs import ContinueThread
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus

log = logging.getLogger(__name__)

WHY = "the index is finished; the answer before was from part of the files"


class PartialAnswers:
    """Looks through the waiting drafts."""

    def __init__(self, desk: ThreadService) -> None:
        self._desk = desk

    def repeat(self) -> None:
        """Send back the drafts that were made before the index was finished; call it only once that is.

        Raises:
            StoreError: a state or the queue cannot be written.
        """
        for seen in self._desk.store.open_threads():
            if _is_untouched_partial(seen) and self._desk.store.amend(seen.thread_id, self._sent_back) is not None:
                log.info("a partial answer is repeated", extra={"action": "repeated", "thread_id": seen.thread_id})
                self._desk.jobs.put(ContinueThread(thread_id=seen.thread_id))
                self._desk.cards.show_later(seen.thread_id)

    def _sent_back(self, now: ThreadState) -> ThreadState | None:
        return reopen(now, at=self._desk.clock.now(), why=WHY) if _is_untouched_partial(now) else None


def _is_untouched_partial(state: ThreadState) -> bool:
    """Whether a thread waits with a draft, or with questions, from part of the files, and nobody did anything to it."""
    ret = state.investigator_return
    return (
        state.status is ThreadStatus.PENDING_USER
        and state.pending_reason is not PendingReason.FAILED
        and ret is not None
        and ret.index_unfinished
        and not (state.draft_pending and state.has_edited_draft)
        and not (state.post_intent or state.doubts or state.answered_by or state.triage_file_path or state.is_escalated)
    )
