"""What a start found broken in the data directory, told in the ops channel with what to do about it."""

from __future__ import annotations

from typing import Final

from bot.casework.recovery.crash_recovery import GivingUp
from bot.casework.recovery.thread_rebuild import ThreadRebuild
from bot.composition.shared_services import SharedServices
from bot.domain.jobs import Job
from bot.intake.enqueue import MessageSorter, requeue_lost_jobs
from bot.ports.collections import CLASSIFIED, EVENTS

_AGAIN: Final = " To try again, move queue/failed/{job} to queue/ while the bot is stopped."


class StartupReport:
    """Says what was found, and sees to it that what was lost is taken up."""

    def __init__(
        self, on: SharedServices, sorter: MessageSorter, rebuilding: ThreadRebuild, giving_up: GivingUp
    ) -> None:
        self._on, self._sorter = on, sorter
        self._rebuilding, self._giving_up = rebuilding, giving_up

    def say(self) -> None:
        """Tell of unreadable records, jobs and lines; raises StoreError where the disk refuses what follows."""
        for damage in self._on.store.damaged():
            if line := self._rebuilding.plan(damage):
                self._on.ops.say(line)
        self._replace_lost_jobs()
        self.say_given_up()
        for name in (EVENTS, CLASSIFIED):
            if bad := self._on.storage.journal(name).bad_lines:
                self._on.ops.say(f"{bad} unreadable lines in {name}.ndjson were skipped.")

    def say_given_up(self) -> None:
        """Tell of the jobs that processes died of, and of those that cannot be read."""
        self._say_corrupt()
        for job in self._on.jobs.take_given_up():
            self.given_up(job)

    def given_up(self, job: Job) -> None:
        """Tell of a job that was tried for the last time; a thread that it leaves behind is a human's."""
        if self._giving_up.given_up(job):
            return
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        self._on.ops.say(
            f"Gave up on the job for {job.key} after {job.attempts} attempts: {why}."
            + ("" if self._on.storage.shared else _AGAIN.format(job=job.name))
        )

    def _say_corrupt(self) -> None:
        corrupt = self._on.jobs.corrupt
        while corrupt:
            self._on.ops.say(f"A waiting job could not be read; it was set aside as {corrupt.pop(0)}.")

    def _replace_lost_jobs(self) -> None:
        """Queue again what damaged jobs held; the file of an earlier start counts, too: the bot may have died here."""
        on = self._on
        self._say_corrupt()
        since_ms = on.jobs.lost_since_ms()
        if since_ms is None:
            return
        count = requeue_lost_jobs(on.storage.journal(CLASSIFIED), on.store, on.jobs, self._sorter, since_ms=since_ms)
        if count:
            on.ops.say(f"{count} question{'s' * (count > 1)} of that time had no job and no record: queued again.")
