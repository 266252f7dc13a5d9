"""What becomes of a thread whose job cannot be done: its card says so and offers to investigate again.

Changes the state from one in which the machine works to one that waits for a human; nothing is investigated here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.casework.orchestrator import Orchestrator
from bot.casework.thread_service import ThreadService
from bot.domain.jobs import DEADLY_DEATHS, Job, QuestionAsked, RebuildThread, RunBeat
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.errors import ProviderError

log = logging.getLogger(__name__)

_MACHINE = frozenset({ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION, ThreadStatus.BOUNCED})
_OF_NO_THREAD = (RebuildThread, RunBeat)


class GivingUp:
    """Hands threads to a human; `say` says a line in the ops channel."""

    def __init__(self, desk: ThreadService, orchestrator: Orchestrator, say: Callable[[str], None]) -> None:
        self._desk, self._orchestrator, self._say = desk, orchestrator, say

    def deadly(self, job: Job) -> bool:
        """Settle a job that is not to be run any more; False where it is about no thread.

        Raises:
            ProviderError: the card could not be shown; the job is tried again.
        """
        if type(job.work) in _OF_NO_THREAD:
            return False
        if isinstance(job.work, QuestionAsked):
            self._orchestrator.open_unworked(job.work)
        died = f"the bot died {DEADLY_DEATHS} times while it worked on this and on nothing else"
        return self._handed_over(job.key, died)

    def given_up(self, job: Job) -> bool:
        """Settle a thread whose job failed for the last time; False where there is no such thread."""
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        try:
            return self._handed_over(job.key, why)
        except ProviderError:
            log.warning("card not shown", extra={"action": "card_later", "thread_id": job.key}, exc_info=True)
            self._desk.cards.show_later(job.key)
            return True

    def _handed_over(self, thread_id: str, why: str) -> bool:
        """Let a thread wait for a human, who is told why; one that waits already keeps its draft."""
        state = self._desk.store.get(thread_id)
        if state is None:
            return False
        if state.status in _MACHINE:
            at = self._desk.clock.now()
            words = f"could not be investigated: {why}"

            def handed(now: ThreadState) -> ThreadState | None:
                if now.status not in _MACHINE:
                    return None
                return now.transition(ThreadStatus.PENDING_USER, at=at, why=words, reason=PendingReason.FAILED)

            self._desk.store.amend(thread_id, handed)
            self._say(f"Thread {thread_id} {words}. Its card offers to investigate it again.")
        elif state.is_open:
            self._say(f"A later job for thread {thread_id} failed: {why}. Its card is unchanged.")
        self._desk.cards.show_card(thread_id)
        return True
