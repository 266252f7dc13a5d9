"""Ends what teams left open that were taken out of triage.yml while the bot did not run.

Ends what a team that was removed from triage.yml left open.

Each thread is closed with a sentence on its card, also on a draft pull request that is not open yet; how many questions
still waited in the queue is said with it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection as Items
from dataclasses import dataclass
from functools import partial

from bot.adapters.terminals import choose_terminal
from bot.casework.thread_service import ThreadService
from bot.composition.process import Process
from bot.composition.team_core import TeamCore
from bot.composition.team_homes import teams_left
from bot.domain.events import is_direct
from bot.domain.fixes import Fix, FixStatus
from bot.domain.jobs import QuestionAsked
from bot.domain.patches import FixCode, PatchRefusal
from bot.domain.threads import Resolution, ThreadState
from bot.errors import ConfigError, ProviderError, StoreError
from bot.ports import JobQueue
from bot.ports.collections import Collection
from bot.ports.collections import Collection as Stored
from bot.ports.feature_collections import FIXES
from bot.ports.threads import Threads

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


def drop_jobs(jobs: JobQueue, threads: Items[str] = ()) -> int:
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


def end_removed(process: Process) -> list[str]:
    """Close the open threads of teams that are not in triage.yml any more; return what is said of it."""
    said = []
    for team in teams_left(process.engine.teams(), process.environment.home, process.settings.by_team()):
        if _is_elsewhere(process, team):  # a replica with another triage.yml works for it
            continue
        try:
            said += [line] if (line := _end(process, team)) else []
        except (ConfigError, ProviderError, StoreError) as error:
            said.append(f"The open threads of the removed team {team} could not be closed: {error}")
    return said


def _is_elsewhere(process: Process, team: str) -> bool:
    leases = process.engine.leases(process.environment.of_team(team).home)
    return process.engine.is_shared and leases.holder("duty.questions") is not None


def _end(process: Process, team: str) -> str | None:
    """Close what a team left open; its cards are changed where they stand."""
    home = process.environment.of_team(team).home
    documents = process.engine.store(home).documents
    known = Threads(documents)
    threads = known.open_threads()
    ended = (known.last_closed(fix.thread_id) for fix in opening(Collection(documents, FIXES)))
    left = [*threads, *(state for state in ended if state is not None)]
    terminal = choose_terminal(home)
    for session in terminal.sessions():
        terminal.end(session)  # nobody waits for it any more
    if not left:
        return _drop_queue(process, team)
    places = (state.card_channel for state in left if state.card_channel and not is_direct(state.card_channel))
    place = next(places, process.settings.ops_channel)
    settings = process.settings.model_copy(
        update={"teams": {}, "sessions": {}, "watched_chats": (), "approvers": (), "ops_channel": place}
    )
    core = TeamCore(process, team, settings)
    try:
        return end_team(core.service, core.fixes, team).words()
    finally:
        core.service.jobs.close()


def _drop_queue(process: Process, team: str) -> str | None:
    """Drop what waits for a team without an open thread: nobody knows its ops channel, and no other may see more."""
    jobs = process.engine.jobs(process.environment.of_team(team).home, process.clock, changed=process.jobs_changed)
    try:
        dropped = drop_jobs(jobs)
    finally:
        jobs.close()
    return TeamEnd(team=team, dropped=dropped).words() if dropped else None
