"""Puts things right at start: what a crash left half done is finished, and nothing is done twice."""

from __future__ import annotations

import logging

from bot.casework.desk import Desk
from bot.casework.replies import Replies
from bot.domain.jobs import JobKind
from bot.domain.threads import Status, ThreadState
from bot.errors import TriageError

log = logging.getLogger(__name__)

_MACHINE = frozenset({Status.INVESTIGATING, Status.AWAITING_VALIDATION, Status.BOUNCED})


def recover(desk: Desk, replies: Replies) -> list[str]:
    """Settle every thread in the store; returns one line for each that could not be."""
    problems = []
    for state in desk.store.threads():
        try:
            _settle(desk, replies, state)
        except TriageError as error:
            log.exception("thread not settled", extra={"action": "recovery_failed", "thread_id": state.thread_id})
            problems.append(f"{state.thread_id}: {error}")
    return problems


def _settle(desk: Desk, replies: Replies, state: ThreadState) -> None:
    if not state.is_open:
        desk.finish(state.thread_id)
    elif state.post_intent is not None:
        replies.settle(state)
    elif state.status in _MACHINE and not desk.jobs.holds(state.thread_id):
        desk.jobs.put(JobKind.USER, state.thread_id, {"investigate": state.thread_id})
