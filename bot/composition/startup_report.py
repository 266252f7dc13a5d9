"""Tells at a start what is gone or cannot be read, and has it taken up; then of jobs that were given up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from bot.composition.questions import Questions
from bot.composition.team_core import TeamCore
from bot.config.settings import Settings
from bot.domain.jobs import Job
from bot.domain.text.humanize import counted
from bot.errors import StoreError
from bot.intake.watcher import Watcher
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, EVENTS, HEARTBEATS, REPLIES, SESSIONS

LOOKED_THROUGH_BYTES: Final = 256 * 1024
"""How much of the end of a journal is looked through at a start for lines that cannot be read."""

_AGAIN: Final = " To try again, move queue/failed/{job} to queue/ while the bot is stopped."


class StartupReport:
    """Tells the ops channel of one team."""

    def __init__(self, core: TeamCore, questions: Questions, watcher: Watcher) -> None:
        self._service, self._storage, self._settings = core.service, core.storage, core.settings
        self._say, self._questions, self._watcher = core.ops.say, questions, watcher

    def say(self) -> None:
        """Tell of records, jobs and lines that cannot be read or are gone.

        Raises:
            StoreError: the disk refuses what follows from it.
        """
        for damage in self._service.store.damaged():
            if line := self._questions.rebuilding.plan(damage):
                self._say(line)
        for thread_id in self._service.shown.by_id():
            self._questions.rebuilding.plan_missing(thread_id)
        self._replace_lost_jobs()
        self.say_given_up()
        for line in (*unreadable_lines(self._storage), *forgotten_sessions(self._storage, self._settings)):
            self._say(line)

    def say_given_up(self) -> None:
        """Tell of the jobs that processes died of, and of those that cannot be read."""
        self._say_corrupt()
        for job in self._service.jobs.take_given_up():
            self.given_up(job)

    def given_up(self, job: Job) -> None:
        """Tell of a job that was tried for the last time; a thread that it leaves behind is a human's."""
        if self._questions.giving_up.given_up(job):
            return
        tries = f" after {counted(job.attempts, 'attempt')}"
        why = job.failures[-1] if job.failures else "the bot died while it ran"
        self._say(
            f"Gave up on the job for {job.key}{'' if job.is_deadly else tries}: {why}."
            + ("" if self._storage.shared else _AGAIN.format(job=job.name))
        )

    def _say_corrupt(self) -> None:
        corrupt = self._service.jobs.corrupt
        while corrupt:
            self._say(f"A waiting job could not be read; it was set aside as {corrupt.pop(0)}.")

    def _replace_lost_jobs(self) -> None:
        """Queue again what damaged jobs held; the file of an earlier start counts, too: the bot may have died here."""
        self._say_corrupt()
        since_ms = self._service.jobs.lost_since_ms()
        if since_ms is not None and (count := self._watcher.requeue_lost(since_ms)):
            self._say(f"{counted(count, 'question')} of that time had no job and no record: queued again.")


def unreadable_lines(storage: Store) -> Iterator[str]:
    """Yield what is to be said of the lines of journals that cannot be read; no start fails of them."""
    for name in (EVENTS, CLASSIFIED, REPLIES, HEARTBEATS):
        journal = storage.journal(name)
        try:
            if name in (REPLIES, HEARTBEATS):  # the start has read the others
                deque(journal.records(last_bytes=LOOKED_THROUGH_BYTES), maxlen=0)
        except StoreError as error:
            yield f"{name}.ndjson could not be looked through: {error}."
        if bad := journal.bad_lines:
            yield f"Skipped {counted(bad, 'unreadable line')} in {name}.ndjson."


def forgotten_sessions(storage: Store, settings: Settings) -> Iterator[str]:
    """Yield what is to be said of sessions that had beats, of which nothing is remembered."""
    new = {each for each in settings.sessions if storage.documents.get(SESSIONS.name, each) is None}
    if new:
        beats = storage.journal(HEARTBEATS).records(last_bytes=LOOKED_THROUGH_BYTES)
        for session_id in sorted(new & {str(record.get("session_id")) for record in beats}):
            yield (
                f"What was remembered of session {session_id} between beats is gone. It goes on like a new one: what "
                "still fails is told again."
            )
