"""Puts off the work on a thread while the model's provider or the codebase is away, and takes it up again.

The wait stands in the thread's state, so a restart keeps it; no job waits in the queue meanwhile. `tick` queues what
is due. A thread that has waited for `expire_after` is not put off again.
"""

from __future__ import annotations

import logging

from bot.casework.thread_service import ThreadService
from bot.domain.threads import ThreadState
from bot.domain.waits import Wait, WaitFor, next_wait
from bot.errors import CodebaseUnreadable, Unavailable

log = logging.getLogger(__name__)


class WaitingRounds:
    """The threads at work that wait for something outside."""

    def __init__(self, service: ThreadService) -> None:
        self._service = service

    def is_early(self, state: ThreadState) -> bool:
        """Whether it is too early to try the thread's work again."""
        return state.wait is not None and state.wait.is_early(self._service.clock.now())

    def put_off(self, thread_id: str, error: Unavailable | CodebaseUnreadable) -> bool:
        """Have the thread tried again later; False if it has waited for `expire_after`."""
        found: list[Wait] = []

        def waiting(now: ThreadState) -> ThreadState | None:
            found[:] = [self._after(now, error)]
            return now.evolve(wait=found[0]) if now.is_at_work and not self._is_over(found[0]) else None

        if self._service.store.amend(thread_id, waiting) is None:
            return not (found and self._is_over(found[0]))
        wait = found[0]
        level = logging.WARNING if wait.tries == 1 else logging.INFO
        log.log(level, "a question waits: %s", error, extra={"action": "question_waits", "thread_id": thread_id})
        return True

    def tick(self) -> None:
        """Queue the threads that are due; raises StoreError."""
        for state in self._service.store.open_threads():
            if state.is_at_work and state.wait is not None and not self.is_early(state):
                self._service.queue(state.thread_id, unless_queued=True)

    def _after(self, state: ThreadState, error: Unavailable | CodebaseUnreadable) -> Wait:
        at = self._service.clock.now()
        if isinstance(error, CodebaseUnreadable):
            return next_wait(state.wait, WaitFor.CODEBASE, at=at)
        return next_wait(state.wait, WaitFor.MODEL, at=at, why=error.code or "", retry_after_s=error.retry_after_s)

    def _is_over(self, wait: Wait) -> bool:
        longest = self._service.settings.expire_after
        return longest is not None and self._service.clock.now() - wait.since >= longest
