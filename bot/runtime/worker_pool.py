"""The threads that work off the queue; the only place, beside the entry points, where any error is caught.

A job that fails goes back to its place; after its last attempt it is given up. A job during which the process died
repeatedly is given up without being run. While an outside service is down the attempt does not count and the pauses
grow. Stopping lets running jobs end for a while, interrupts the model runs of the others, and hands them back
uncounted.

Gives the workers the jobs of all teams' queues in turn, so that a busy team delays another by one job at most.

The order inside a team is its queue's. The limits of the process hold across teams: one heartbeat at a time, and a job
during which the process died repeatedly runs alone. How many run at once is the number of workers who ask.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from bot.agent.model_run import RunStopped
from bot.casework.alerts import AlertThreads
from bot.casework.orchestrator import Orchestrator
from bot.casework.recovery import ThreadRebuild
from bot.domain.jobs import (
    DEADLY_DEATHS,
    MAX_ATTEMPTS,
    WORK_CLASSES,
    AlertArrived,
    AskInOps,
    ContinueThread,
    FollowUpArrived,
    Job,
    JobKind,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    MessageWork,
    QuestionAsked,
    RebuildThread,
    RunBeat,
    Work,
)
from bot.errors import Away, StoreError, TriageError, Unavailable
from bot.heartbeat.pages import PageThreads
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.ports import JobQueue, any_job

CLAIM_WAIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class _TeamQueue:
    team: str
    jobs: JobQueue
    wanted: Callable[[Job], bool]


class TeamQueues:
    """The queues of teams; all of them notify `changed` of new work."""

    def __init__(self, changed: threading.Condition, *, wait_s: float = CLAIM_WAIT_S) -> None:
        self._changed, self._wait_s = changed, wait_s
        self._queues: dict[str, _TeamQueue] = {}  # who was served longest ago comes first
        self._running: dict[str, tuple[_TeamQueue, Job]] = {}
        self._makes_room = False
        """Whether a job that runs alone waits for all others to end."""

    def add(self, team: str, jobs: JobQueue, wanted: Callable[[Job], bool] = any_job) -> None:
        """Serve a team from now on; of its jobs only those are taken that are `wanted` by then."""
        with self._changed:
            self._queues[team] = _TeamQueue(team, jobs, wanted)
            self._changed.notify_all()

    def remove(self, team: str) -> None:
        """Take no more jobs of a team; those that run are finished."""
        with self._changed:
            self._queues.pop(team, None)

    def wait_for(self, team: str, *, timeout_s: float) -> bool:
        """Return once no job of a team runs; False where one still does after that time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._has_running(team), timeout_s)

    def _has_running(self, team: str) -> bool:
        return any(queue.team == team for queue, _ in self._running.values())

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next job of the team that was served longest ago and has one; waits for it for a while."""
        with self._changed:
            job = self._next(wanted)
            if job is None and self._wait_s:
                self._changed.wait(self._wait_s)
                job = self._next(wanted)
            return job

    def running(self) -> list[Job]:
        """Return the jobs that are claimed and not done."""
        with self._changed:
            return [job for _, job in self._running.values()]

    def team_of(self, job: Job) -> str:
        """Return whose a claimed job is."""
        with self._changed:
            return self._running[job.key][0].team

    def end_waits(self) -> None:
        """Have whoever waits in `claim` return, and nobody wait from now on: the process stops."""
        with self._changed:
            self._wait_s = 0
            self._changed.notify_all()

    def done(self, job: Job) -> None:
        """Forget a claimed job, unless it was given back meanwhile because the bot stops."""
        if (jobs := self._release(job)) is not None:
            jobs.done(job)

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place in its team's queue; True if it will run again."""
        jobs = self._release(job)
        return jobs is None or jobs.give_back(job, why=why, count=count)

    def _release(self, job: Job) -> JobQueue | None:
        with self._changed:
            running = self._running.pop(job.key, None)
            self._changed.notify_all()
            return running[0].jobs if running else None

    def _next(self, wanted: Callable[[Job], bool]) -> Job | None:
        running = [job for _, job in self._running.values()]
        if running and (self._makes_room or any(job.runs_alone for job in running)):
            return None
        self._makes_room = False
        for team, queue in list(self._queues.items()):

            def is_wanted(job: Job, queue: _TeamQueue = queue) -> bool:
                return wanted(job) and queue.wanted(job) and self._fits(job, running)

            try:
                job = queue.jobs.claim(is_wanted)
            except TriageError:
                self._queues[team] = self._queues.pop(team)  # the next look begins with the others
                raise
            if job is not None:
                self._queues[team] = self._queues.pop(team)
                self._running[job.key] = queue, job
                return job
        return None

    def _fits(self, job: Job, running: list[Job]) -> bool:
        """Whether a job may run beside those of all teams; what comes after one that waits to run alone waits, too."""
        if job.runs_alone and running:
            self._makes_room = True
        if self._makes_room or job.key in self._running:
            return False
        return job.kind is JobKind.USER or not any(one.kind is JobKind.HEARTBEAT for one in running)


log = logging.getLogger(__name__)


Handlers = Mapping[type[Work], Callable[[Any], object]]


def complete(handlers: Handlers) -> Handlers:
    """Return the handlers by the class of their work; raises TypeError where a class has none."""
    if missing := set(WORK_CLASSES.values()) - set(handlers):
        raise TypeError(f"no handler for {sorted(work.__name__ for work in missing)}")
    return handlers


def build_job_table(
    orchestrator: Orchestrator,
    alerts: AlertThreads,
    follow_mention: Callable[[MentionInstruction], None],
    rebuilding: ThreadRebuild,
    beats: BeatWorker,
    pages: PageThreads,
    ask: Callable[[AskInOps], None],
) -> Handlers:
    """Return the table of all jobs; `pages` hears each message of people before it is worked on."""

    def heard(handler: Callable[[Any], object]) -> Callable[[MessageWork], None]:
        def handle(work: MessageWork) -> None:
            pages.hear(work.event)
            handler(work)

        return handle

    return complete(
        {
            QuestionAsked: heard(orchestrator.take_question),
            FollowUpArrived: heard(orchestrator.take_follow_up),
            MessageEdited: orchestrator.note_edit,
            MessageDeleted: orchestrator.note_deletion,
            AlertArrived: alerts.take_alert,
            ContinueThread: orchestrator.continue_thread,
            MentionInstruction: heard(follow_mention),
            AskInOps: ask,
            RebuildThread: rebuilding.rebuild_thread,
            RunBeat: beats.run_beat,
        }
    )


FINISH_S = 2.0
"""How long a stop lets running jobs come to their end."""

GRACE_S = 5.0
"""How long it takes at most: so much more they have to give up in order."""

PAUSE_AFTER_ERROR_S = 1.0
MAX_OUTAGE_DOUBLINGS = 6
MAX_PAUSE_S = 64.0
PAUSE_WHILE_AWAY_S = 5.0
DEADLY = f"the bot died {DEADLY_DEATHS} times while it did this and nothing else"


def never(_: Job) -> bool:
    """Settle no job."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class JobHandlers:
    """What works off the jobs of one team: `table` has the handler of each class of work.

    `on_deadly` gets a job that is not to be run any more, and says whether that settled it; else it is given up.
    """

    table: Mapping[type[Work], Callable[[Any], object]]
    on_given_up: Callable[[Job], object]
    on_deadly: Callable[[Job], bool] = never


class WorkerPool:
    """Calls the handler of every claimed job's work, on `threads` threads."""

    def __init__(
        self,
        jobs: TeamQueues,
        handlers_of: Callable[[Job], JobHandlers],
        *,
        threads: int,
        interrupt: Callable[[], object] | None = None,
        finish_s: float = FINISH_S,
        grace_s: float = GRACE_S,
        pause_after_error_s: float = PAUSE_AFTER_ERROR_S,
        pause_while_away_s: float = PAUSE_WHILE_AWAY_S,
    ) -> None:
        self._jobs, self._handlers_of = jobs, handlers_of
        self._interrupt, self._finish_s = interrupt, finish_s
        self._grace_s, self._pause_after_error_s = grace_s, pause_after_error_s
        self._pause_while_away_s = pause_while_away_s
        self._outages = 0
        self._stopping = threading.Event()
        self._waits_for: dict[str, str] = {}
        self._threads = [threading.Thread(target=self._work, name=f"worker-{n}", daemon=True) for n in range(threads)]

    def start(self) -> None:
        """Begin to claim jobs."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Claim no more; wait `finish_s` for running jobs, interrupt them, and after `grace_s` hand them back."""
        self._stopping.set()
        self._jobs.end_waits()
        started = time.monotonic()
        self._join(started + self._finish_s)
        if self._interrupt is not None and self._jobs.running():
            self._interrupt()
        self._join(started + self._grace_s)
        for job in self._jobs.running():
            with suppress(StoreError):  # the next start takes it up where it is
                self._jobs.give_back(job, why="the bot stopped", count=False)

    def _join(self, until: float) -> None:
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                job = self._jobs.claim()
                if job is not None:
                    self._run(job, self._handlers_of(job))
            except Away as error:
                log.warning("no work until it is back: %s", error, extra={"action": "work_waits"})
                self._stopping.wait(self.pause_s(error))
            except Exception:
                log.exception("worker stumbled", extra={"action": "worker_stumbled"})
                self._stopping.wait(self._pause_after_error_s)

    def _run(self, job: Job, by: JobHandlers) -> None:
        try:
            if job.is_deadly and not by.on_deadly(job):
                self._give_up(job, by, DEADLY)
                return
            if not job.is_deadly:
                by.table[type(job.work)](job.work)
        except RunStopped:
            log.info("job interrupted", extra={"action": "job_interrupted", "job": job.name})
            self._jobs.give_back(job, why="the bot stopped", count=False)
        except Exception as error:
            if isinstance(error, Unavailable | Away):
                self._tell_once(job.name, error)
            else:
                log.exception("job failed", extra={"action": "job_failed", "job": job.name})
            self._failed(job, by, error)
        else:
            self._outages = 0
            self._waits_for.pop(job.name, None)
            self._jobs.done(job)

    def _tell_once(self, job_name: str, error: Exception) -> None:
        """Log what a job waits for, and again only when that changes."""
        if self._waits_for.get(job_name) != str(error):
            self._waits_for[job_name] = str(error)
            log.warning("job waits: %s", error, extra={"action": "job_waits", "job": job_name})

    def _give_up(self, job: Job, by: JobHandlers, why: str) -> None:
        """Put a job where it is not claimed any more, and tell of it."""
        self._jobs.give_back(job.model_copy(update={"attempts": MAX_ATTEMPTS}), why=why)
        by.on_given_up(job.model_copy(update={"failures": (*job.failures, why)}))

    def _failed(self, job: Job, by: JobHandlers, error: Exception) -> None:
        why = str(error) if isinstance(error, TriageError) else f"unexpected {type(error).__name__}"
        outage = isinstance(error, Unavailable | Away)
        if not self._jobs.give_back(job, why=why, count=not outage):
            self._waits_for.pop(job.name, None)
            by.on_given_up(job.model_copy(update={"failures": (*job.failures, why)}))
        self._stopping.wait(self.pause_s(error))

    def pause_s(self, error: Exception) -> float:
        """Return how long to leave the queue alone, in seconds: longer with every job that met an outage in a row."""
        if isinstance(error, Away):
            return self._pause_while_away_s
        if not isinstance(error, Unavailable):
            return self._pause_after_error_s
        self._outages = min(self._outages + 1, MAX_OUTAGE_DOUBLINGS)
        return max(self._pause_after_error_s * 2.0 ** (self._outages - 1), min(error.retry_after_s or 0, MAX_PAUSE_S))
