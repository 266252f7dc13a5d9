"""Gives the workers the jobs of all teams' queues in turn, so that a busy team delays another by one job at most.

The order inside a team is its queue's. The limits of the process hold across teams: one heartbeat at a time, and a job
during which the process died repeatedly runs alone. How many run at once is the number of workers who ask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.domain.jobs import Job, JobKind
from bot.errors import TriageError
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
