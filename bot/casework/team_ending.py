"""Ends the open threads of a team that is no longer in triage.yml: each with a sentence on its card, none silently."""

from __future__ import annotations

import logging

from bot.casework.thread_service import ThreadService
from bot.domain.threads import Resolution, ThreadState

log = logging.getLogger(__name__)


def end_threads(desk: ThreadService, why: str) -> tuple[int, int]:
    """Close every open thread; return how many, and of how many the card could not be changed now.

    A reply whose post is under way is settled as ever at the next start of a team of that name.

    Raises:
        StoreError: a thread cannot be written; those before it are closed.
    """
    at = desk.clock.now()

    def close(state: ThreadState) -> ThreadState | None:
        if not state.is_open or state.post_intent is not None:
            return None
        return state.close(Resolution.EXPIRED, at=at, why=why)

    closed = [state.thread_id for state in desk.store.open_threads() if desk.store.amend(state.thread_id, close)]
    behind = [thread_id for thread_id in closed if not desk.cards.try_to_finish(thread_id)]
    if closed:
        log.warning("%d threads closed: %s", len(closed), why, extra={"action": "team_ended"})
    return len(closed), len(behind)
