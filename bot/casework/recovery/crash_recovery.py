"""Finishes what was left half done: at the start after a crash, and while running what Slack did not confirm.

What a start or another look finds is brought to its end by the road that every reply and card takes, so nothing is done
twice. Before an open card of an earlier process is shown again its thread is read: the data directory may be a
restored backup, or another process may have answered. A thread whose job cannot be done waits for a human; its card
says so and offers to investigate again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime

from bot.casework.orchestrator import Orchestrator
from bot.casework.posting.replies import BeingPosted, GivenBack, Replies, ReplyInFlight
from bot.casework.thread_service import ThreadService
from bot.domain.jobs import DEADLY_DEATHS, Job, QuestionAsked, RebuildThread, RunBeat
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import Conflict, ProviderError, StoreError, TriageError, Unavailable, Unconfirmed
from bot.ports.chat import may_still_arrive

log = logging.getLogger(__name__)

_OF_NO_THREAD = (RebuildThread, RunBeat)


class CrashRecovery:
    """Settles threads; those whose reply may still be on its way to the chat are settled later."""

    def __init__(self, service: ThreadService, replies: Replies) -> None:
        self._service, self._replies = service, replies
        self._tried_at: dict[str, datetime] = {}
        self._unlooked: set[str] = set()
        self._settling = threading.Lock()
        self._seen: dict[str, int] = {}

    def recover(self) -> list[str]:
        """Take up what an earlier process left; its open cards are looked at later, before they are shown again.

        Returns one line for each reply that was given back, and for each that cannot be settled.
        """
        for state in self._service.store.threads():
            self._take_up(state)
            if state.is_open and state.card_ts is not None:
                self._unlooked.add(state.thread_id)
        return self._settle_all(self._due())

    def reconcile(self) -> None:
        """Take up what another replica left, and cards that are behind.

        What changed since the last look is somebody's.
        """
        before, self._seen = self._seen, {}
        for state in self._service.store.open_threads():
            self._seen[state.thread_id] = state.version
            if before.get(state.thread_id) == state.version:
                self._take_up(state)
                if state.status is ThreadStatus.PENDING_USER and state.card_ts and self._service.cards.is_behind(state):
                    self._service.cards.show_later(state.thread_id)

    def _take_up(self, state: ThreadState) -> None:
        """Have somebody go on with a thread: a claim past its time, work that nobody does, a card that did not end."""
        if not state.is_open:
            self._service.cards.show_later(state.thread_id)
        elif state.post_intent is not None:
            self._replies.recall(state.thread_id)
        elif state.is_at_work:
            self._service.queue(state.thread_id, unless_queued=True)

    def is_due(self) -> bool:
        """Whether there is something for `settle_late` to do."""
        return bool(self._unlooked) or bool(self._due())

    def settle_late(self) -> list[str]:
        """Settle the claims that nobody confirmed, every 10 s each, and look at the cards of an earlier process.

        Returns one line for each reply that was given back, and for each that cannot be settled.
        """
        if not self._settling.acquire(blocking=False):  # an earlier call is still at it
            return []
        try:
            return [*self._settle_all(self._due()), *self._look()]
        finally:
            self._settling.release()

    def _due(self) -> list[ThreadState]:
        now = self._service.clock.now()
        known = (self._service.store.get(thread_id) for thread_id in sorted(self._replies.unsettled()))
        return [state for state in known if state is not None and not self._was_tried(state.thread_id, now)]

    def _was_tried(self, thread_id: str, now: datetime) -> bool:
        at = self._tried_at.get(thread_id)
        return at is not None and may_still_arrive(at, now)

    def _settle_all(self, states: Iterable[ThreadState]) -> list[str]:
        problems = []
        for state in states:
            try:
                self._replies.settle(state)
            except (BeingPosted, ReplyInFlight, Unconfirmed):
                self._again(state)
            except GivenBack as error:
                problems.append(f"{state.thread_id}: {error}")
            except TriageError as error:
                log.warning(
                    "thread not settled: %s",
                    error,
                    extra={"action": "recovery_failed", "thread_id": state.thread_id},
                    exc_info=not isinstance(error, Unavailable),
                )
                if state.thread_id not in self._tried_at:
                    problems.append(f"{state.thread_id}: it could not be completed: {error}")
                if isinstance(error, ProviderError | StoreError) and state.post_intent is not None:
                    self._again(state)
        return problems

    def _again(self, state: ThreadState) -> None:
        self._tried_at[state.thread_id] = self._service.clock.now()
        self._replies.recall(state.thread_id)

    def _look(self) -> list[str]:
        """Look whether what waits for a human was answered already, then show the cards that differ or are gone.

        Ends in an outage.

        Returns a line for each thread that was.
        """
        lines = []
        for thread_id in sorted(self._unlooked):
            try:
                adopted = self._adopted(thread_id)
                if not adopted:
                    self._service.cards.show_after_restart(thread_id)
            except Unavailable as error:
                log.warning("waiting cards are looked at later: %s", error, extra={"action": "look_later"})
                break
            except (ProviderError, Conflict):
                log.warning(
                    "thread not looked at", extra={"action": "look_failed", "thread_id": thread_id}, exc_info=True
                )
                adopted = False
                self._service.cards.show_later(thread_id)
            self._unlooked.discard(thread_id)
            if adopted:
                lines.append(f"{thread_id}: its reply was already in the thread; it was logged and the card closed")
        return lines

    def _adopted(self, thread_id: str) -> bool:
        state = self._service.store.get(thread_id)
        if state is None or state.status is not ThreadStatus.PENDING_USER or state.post_intent:
            return False
        return self._replies.adopt_standing(state, self._service.workspace.thread(state.chat_id, state.thread_ts))


class GivingUp:
    """Hands threads to a human; `say` says a line in the ops channel."""

    def __init__(self, service: ThreadService, orchestrator: Orchestrator, say: Callable[[str], None]) -> None:
        self._service, self._orchestrator, self._say = service, orchestrator, say

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
        return self._handed_over(job.key, died, self._service.cards.show_card)

    def given_up(self, job: Job) -> bool:
        """Settle a thread whose job failed for the last time; False where there is no such thread."""
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        return self._handed_over(job.key, why, self._show)

    def _show(self, thread_id: str) -> None:
        """Show the card, now or later."""
        try:
            self._service.cards.show_card(thread_id)
        except ProviderError:
            log.warning("card not shown", extra={"action": "card_later", "thread_id": thread_id}, exc_info=True)
            self._service.cards.show_later(thread_id)

    def _handed_over(self, thread_id: str, why: str, show: Callable[[str], object]) -> bool:
        """Let a thread wait for a human, who is told why, once; one that waits already keeps its draft."""
        words, at = f"could not be investigated: {why}", self._service.clock.now()
        handed = self._service.store.amend(
            thread_id, lambda now: now.failed(at=at, why=words) if now.is_at_work else None
        )
        state = handed or self._service.store.get(thread_id)
        if state is None:
            return False
        is_told = state.is_open and state.status_history[-1:] and state.status_history[-1].why == words
        if handed is not None:
            self._say(f"Thread {thread_id} {words}. Its card offers to investigate it again.")
        show(thread_id)
        if state.is_open and not is_told:
            self._say(f"A later job for thread {thread_id} failed: {why}. Its card is unchanged.")
        return True
