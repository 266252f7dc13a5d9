"""Puts things right at start: what a crash left half done is finished, and nothing is done twice."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from bot.casework.desk import Desk
from bot.casework.replies import Replies, ReplyInFlight
from bot.domain.jobs import JobKind
from bot.domain.threads import Status, ThreadState
from bot.errors import TriageError

log = logging.getLogger(__name__)

_MACHINE = frozenset({Status.INVESTIGATING, Status.AWAITING_VALIDATION, Status.BOUNCED})


class Recovery:
    """Settles threads; those whose reply may still be on its way to the chat are settled later."""

    def __init__(self, desk: Desk, replies: Replies) -> None:
        self._desk, self._replies = desk, replies
        self._late: set[str] = set()

    def recover(self) -> list[str]:
        """Settle every thread in the store; returns one line for each that could not be."""
        return self._settle_all(self._desk.store.threads())

    def is_due(self) -> bool:
        """Whether there is something for `settle_late` to do."""
        return bool(self._due())

    def settle_late(self) -> list[str]:
        """Settle once each what was left for later and has had its time; returns lines as `recover` does."""
        due = self._due()
        self._late -= {state.thread_id for state in due}
        return self._settle_all(due)

    def _due(self) -> list[ThreadState]:
        known = (self._desk.store.get(thread_id) for thread_id in sorted(self._late))
        return [state for state in known if state is not None and not self._replies.is_in_flight(state)]

    def _settle_all(self, states: Iterable[ThreadState]) -> list[str]:
        problems = []
        for state in states:
            try:
                self._settle(state)
            except ReplyInFlight:
                self._late |= {state.thread_id}
            except TriageError as error:
                log.exception("thread not settled", extra={"action": "recovery_failed", "thread_id": state.thread_id})
                problems.append(f"{state.thread_id}: {error}")
        return problems

    def _settle(self, state: ThreadState) -> None:
        if not state.is_open:
            self._desk.finish(state.thread_id)
        elif state.post_intent is not None:
            self._replies.settle(state)
        elif state.status in _MACHINE and not self._desk.jobs.holds(state.thread_id):
            self._desk.jobs.put(JobKind.USER, state.thread_id, {"investigate": state.thread_id})
