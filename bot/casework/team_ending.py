"""Ends what a team that was removed from triage.yml left open.

Each thread is closed with a sentence on its card, also on a draft pull request that is not open yet; how many questions
still waited in the queue is said with it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from bot.casework.thread_service import ThreadService
from bot.domain.fixes.fixes import Fix, FixStatus
from bot.domain.fixes.patch_limits import FixCode, PatchRefusal
from bot.domain.jobs import QuestionAsked
from bot.domain.threads import Resolution, ThreadState
from bot.errors import ProviderError
from bot.ports import JobQueue
from bot.ports.collections import Collection as Stored

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamEnd:
    """How many threads were closed, of how many the card could not be changed, and how many questions were dropped."""

    team: str
    closed: int = 0
    behind: int = 0
    dropped: int = 0

    def words(self) -> str:
        """Return what is said of it.

        >>> TeamEnd(team="pay", closed=2, dropped=1).words()
        'The team pay is no longer in triage.yml: 2 open threads were closed, 1 waiting question was dropped.'
        """
        parts = [f"{self.closed} open {_were(self.closed, 'thread')} closed"]
        parts += [f"{self.behind} of their cards could not be changed"] * bool(self.behind)
        parts += [f"{self.dropped} waiting {_were(self.dropped, 'question')} dropped"] * bool(self.dropped)
        return f"The team {self.team} is no longer in triage.yml: {', '.join(parts)}."


def _were(count: int, what: str) -> str:
    return f"{what} was" if count == 1 else f"{what}s were"


def end_team(service: ThreadService, fixes: Stored[Fix], team: str) -> TeamEnd:
    """Close every open thread, give up draft PRs that are not open yet, and take what waits out of the queue.

    A reply whose post is under way is settled as ever at the next start of a team of that name.

    Raises:
        StoreError: something cannot be written; what came before it is done.
    """
    why = f"the team {team} is no longer in triage.yml"
    given_up = _give_up(fixes, why)
    closed, behind = _end_threads(service, why)
    for thread_id in given_up - {state.thread_id for state in closed}:
        _show_ended(service, thread_id)
    dropped = drop_jobs(service.jobs, {state.thread_id for state in closed})
    return TeamEnd(team=team, closed=len(closed), behind=behind, dropped=dropped)


def drop_jobs(jobs: JobQueue, threads: Collection[str] = ()) -> int:
    """Empty a queue of which nothing runs; return how many questions were in it that are about none of `threads`.

    Raises:
        StoreError: the disk refuses.
    """
    questions = 0
    while (job := jobs.claim()) is not None:
        questions += isinstance(job.work, QuestionAsked) and job.key not in threads
        jobs.done(job)
    return questions


def opening(fixes: Stored[Fix]) -> list[Fix]:
    """Return the draft PRs that somebody wants and that are not open yet."""
    return fixes.where("status", FixStatus.OPENING)


def _give_up(fixes: Stored[Fix], why: str) -> set[str]:
    """Give up the draft PRs that are not open yet and return their threads: nobody could see them opened later."""
    given_up = opening(fixes)
    for fix in given_up:
        pushed = f" Its commit may stand on the branch `{fix.branch}`." if fix.pushed else ""
        refusal = PatchRefusal(code=FixCode.HOST, text=f"Nobody opens it any more, because {why}.{pushed}")
        changes = {"status": FixStatus.REFUSED, "refusal": refusal, "waits": None, "is_shown": False}
        fixes.change(fix.id, partial(_changed, changes=changes))
    return {fix.thread_id for fix in given_up}


def _changed(now: Fix, changes: dict[str, object]) -> Fix:
    return now.evolve(**changes) if now.status is FixStatus.OPENING else now


def _show_ended(service: ThreadService, thread_id: str) -> None:
    closed = service.store.last_closed(thread_id)
    try:
        if closed is not None:
            service.show_closed(closed)
    except ProviderError:
        log.info("a card does not show that its draft PR was given up", extra={"action": "fix_unshown"}, exc_info=True)


def _end_threads(service: ThreadService, why: str) -> tuple[list[ThreadState], int]:
    at = service.clock.now()

    def close(state: ThreadState) -> ThreadState | None:
        if not state.is_open or state.post_intent is not None:
            return None
        return state.close(Resolution.EXPIRED, at=at, why=why)

    closed = [state for state in service.store.open_threads() if service.store.amend(state.thread_id, close)]
    behind = [state for state in closed if not service.cards.try_to_finish(state.thread_id)]
    if closed:
        log.warning("%d threads closed: %s", len(closed), why, extra={"action": "team_ended"})
    return closed, len(behind)
