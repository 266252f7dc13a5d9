"""Port JobQueue over Procrastinate's tables, for as many processes as there are.

A claim is a row that says which worker runs the job. What a worker that died had claimed goes back to its place; that
counts as a death and not as an attempt (bot/domain/jobs.py). The caps on what runs at once are each process's own; that
no two jobs of a key run at once holds for all of them, by a unique index.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from bot.adapters.storage.postgres import procrastinate_tables as tables
from bot.adapters.storage.postgres.database import Database, Violated
from bot.adapters.storage.postgres.procrastinate_tables import JobRow
from bot.adapters.storage.postgres.queue_worker import BEAT_EVERY_S, SILENT_S, QueueWorker
from bot.adapters.storage.queued_jobs import ClaimedJobs, next_job
from bot.domain.jobs import Job, Work
from bot.errors import ConfigError, StoreError
from bot.ports import Clock, any_job
from bot.ports.migrations import NewerSchema

log = logging.getLogger(__name__)

MAX_NAMESPACE_BYTES: Final = 40
"""The name of a channel has at most 63 bytes, 23 of them Procrastinate's."""

_NO_SUCH_WORKER: Final = "23503"
"""The SQLSTATE of a row that refers to none: others took this process for dead, and forgot its worker."""


class _Claim(NamedTuple):
    """A job that runs here, as it was claimed, and by which of this process's workers."""

    row: JobRow
    worker_id: int


class ProcrastinateQueue(ClaimedJobs[_Claim]):
    """The queue of one namespace; `corrupt` names the rows that hold no job."""

    def __init__(
        self,
        database: Database,
        namespace: str,
        clock: Clock,
        *,
        max_running: int = 2,
        changed: threading.Condition | None = None,
        beat_every_s: float = BEAT_EVERY_S,
        silent_s: float = SILENT_S,
    ) -> None:
        if len(namespace.encode()) > MAX_NAMESPACE_BYTES:
            raise ConfigError(f"the team name {namespace!r} is too long; give it at most {MAX_NAMESPACE_BYTES} letters")
        super().__init__(clock, max_running=max_running, changed=changed)
        self._database, self._namespace = database, namespace
        self._known: dict[tuple[int, int], JobRow] = {}
        self._unanswered: set[int] = set()
        self._worker = QueueWorker(
            database,
            namespace,
            clock,
            wake=self._wake,
            on_given_up=self._given_up.append,
            beat_every_s=beat_every_s,
            silent_s=silent_s,
        )

    def put(self, work: Work) -> Job:
        """Store a job and tell of it, in every process; part of this thread's transaction if there is one."""
        with self._database.writing() as connection:
            return tables.insert(connection, self._namespace, tables.new_job(work, at=self._clock.now()))

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next wanted job the caps allow: at most `max_running`, one heartbeat, one per key."""
        with self._changed:
            self._settle()
            return self._take(wanted)

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs, in any process."""
        found = self._database.read(
            "SELECT 1 FROM procrastinate_jobs WHERE queue_name = %s AND lock = %s AND status IN ('todo', 'doing')",
            [self._namespace, tables.lock_of(self._namespace, key)],
        )
        return bool(found)

    def unclaimed(self) -> list[Job]:
        """Return the jobs that nobody works on yet, in order."""
        with self._changed:
            return [row.job for row in self._look()[0]]

    def lost_since_ms(self) -> None:
        """Return None: a row that holds no job says nothing of when it was put."""

    def failed(self) -> list[Job]:
        """Return the jobs that were given up, in order, without what holds none."""
        rows = self._database.read(
            "SELECT id, attempts, args FROM procrastinate_jobs WHERE queue_name = %s AND status = 'failed' ORDER BY id",
            [self._namespace],
        )
        found = []
        for row in rows:
            with suppress(ValueError):
                found.append(tables.decode(*row).job)
        return found

    def restore(self, job: Job) -> None:
        """Store a job of a move behind the others."""
        with self._database.writing() as connection:
            tables.restore(connection, self._namespace, job, "failed" if job.has_failed else "todo", None)

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of each job's record; return how many were changed."""
        changed = 0
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT id, args FROM procrastinate_jobs "
                "WHERE queue_name = %s AND status IN ('todo', 'doing', 'failed') FOR UPDATE",
                [self._namespace],
            ).fetchall()
            for number, args in rows:
                with suppress(ValueError, KeyError, TypeError):
                    record = json.loads(args["job"])
                    if (converted := dict(convert(record))) != record:
                        connection.execute(
                            "UPDATE procrastinate_jobs SET args = %s::jsonb WHERE id = %s",
                            [json.dumps({**args, "job": json.dumps(converted)}), number],
                        )
                        changed += 1
        return changed

    def close(self) -> None:
        """End the signs of life; what is still claimed is returned by the next process that looks."""
        self._worker.close()

    def _wake(self) -> None:
        """Have whoever waits for work look at the tables, unless somebody looks just now."""
        if self._changed.acquire(blocking=False):  # signs of life must not wait for a claim that hangs
            self._changed.notify_all()
            self._changed.release()

    def _take(self, wanted: Callable[[Job], bool]) -> Job | None:
        """Claim the next job; looks anew as long as another process is faster."""
        while len(self._running) < self._max_running:
            waiting, busy = self._look()
            job = next_job(
                (row.job for row in waiting if wanted(row.job)),
                [claim.row.job for claim in self._running.values()],
                max_running=self._max_running,
                put_off=self._put_off,
                busy=busy,
            )
            if job is None:
                return None
            if self._claimed(next(row for row in waiting if row.job is job)):
                return self._running[job.name].row.job
        return None

    def _look(self) -> tuple[list[JobRow], set[str]]:
        """Return what waits, in order, each row read once, and the keys of what runs anywhere."""
        with self._database.reading() as connection:
            state = tables.look(connection, self._namespace)
            unknown = [place[0] for place in state.waiting if place not in self._known]
            for number, returns, args in tables.read(connection, unknown) if unknown else []:
                self._learn(number, returns, args)
        self._known = {place: self._known[place] for place in state.waiting if place in self._known}
        return list(self._known.values()), state.busy

    def _learn(self, number: int, returns: int, args: object) -> None:
        try:
            self._known[number, returns] = tables.decode(number, returns, args)
        except NewerSchema:  # for a replica of that release
            log.info("a later release's job is left to it", extra={"action": "job_newer", "job": number})
        except ValueError:
            self.corrupt.append(f"procrastinate_jobs: {number}")
            with self._database.writing() as connection:
                tables.give_up(connection, self._namespace, number, None)

    def _claimed(self, row: JobRow) -> bool:
        """Write that a job runs here; False where somebody was faster, or this process was taken for dead."""
        worker_id = self._worker.id
        try:
            with self._database.writing() as connection:
                is_ours = tables.start(connection, row, worker_id)
        except Violated as refused:
            if refused.code == _NO_SUCH_WORKER:
                self._worker.register()
            return False
        except StoreError:
            self._unanswered.add(worker_id)
            raise
        if is_ours:
            job = row.job.model_copy(update={"attempts": row.job.attempts + 1})
            self._running[job.name] = _Claim(row._replace(job=job), worker_id)
        return is_ours

    def _settle(self) -> None:
        if self._unanswered:
            self._take_back()
        super()._settle()

    def _take_back(self) -> None:
        """Let wait again what a claim took whose answer was lost: its worker lives, so nobody else returns it."""
        known = [claim.row.number for claim in self._running.values()]
        with self._database.transaction() as connection:
            for worker_id in self._unanswered:
                for number in tables.claimed_by(connection, worker_id, known):
                    tables.put_back(connection, self._namespace, number, None, at=self._clock.now())
        self._unanswered.clear()

    def _forget(self, claim: _Claim) -> None:
        with self._database.transaction() as connection:
            if self._is_held(connection, claim):
                tables.forget(connection, self._namespace, claim.row.number)

    def _put_back(self, claim: _Claim, returned: Job) -> None:
        with self._database.transaction() as connection:
            if not self._is_held(connection, claim):
                return
            if returned.has_failed:
                tables.give_up(connection, self._namespace, claim.row.number, returned)
            else:
                tables.put_back(connection, self._namespace, claim.row.number, returned, at=self._clock.now())

    def _is_held(self, connection: tables.Connection, claim: _Claim) -> bool:
        """Whether a claim still stands: a process that was taken for dead has lost its jobs to others."""
        held = tables.is_held(connection, claim.row, claim.worker_id)
        if not held:
            log.warning(
                "a job was taken over while it ran here", extra={"action": "job_lost", "job": claim.row.job.name}
            )
        return held
