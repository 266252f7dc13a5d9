"""Port JobQueue over Procrastinate's tables, for as many processes as there are.

Three things are ours beside Procrastinate: a claim takes the job that the rules of queued_jobs.py choose, where
`fetch_job` takes the first one by its own; jobs of dead workers return with a counted death (bot/domain/jobs.py); and
every process is told when a job ends or returns, not only of new ones. That no two jobs of a key run at once holds for
all processes, by a unique index; the order after an outage is each process's own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from procrastinate.sql import queries
from psycopg import sql

from bot.adapters.storage.postgres import procrastinate_tables as tables
from bot.adapters.storage.postgres.database import Database, Violated, translated
from bot.adapters.storage.queued_jobs import QueuedJobs
from bot.domain.jobs import Job
from bot.errors import ConfigError, StoreError
from bot.ports import Clock, any_job
from bot.ports.migrations import NewerSchema

log = logging.getLogger(__name__)

BEAT_EVERY_S: Final = 5.0
SILENT_S: Final = 20.0
"""After how long without a sign of life a worker is dead, in seconds by the database's clock."""

FORGOTTEN_S: Final = 86_400.0
"""After how long a dead worker that held no job is removed from the table, in seconds."""

RECONNECT_S: Final = 1.0
MAX_NAMESPACE_BYTES: Final = 40
"""The name of a channel has at most 63 bytes, 23 of them Procrastinate's."""

_NO_SUCH_WORKER: Final = "23503"
"""The SQLSTATE of a row that refers to none: others took this process for dead, and forgot its worker."""

_ALIVE: Final = """
    SELECT id, attempts, lock, status::text FROM procrastinate_jobs
    WHERE queue_name = %s AND status IN ('todo', 'doing') ORDER BY priority DESC, id
"""
_CLAIM: Final = (
    "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %(worker_id)s "
    "WHERE id = %(number)s AND attempts = %(returns)s AND status = 'todo' RETURNING id"
)
_HELD: Final = """
    SELECT 1 FROM procrastinate_jobs
    WHERE id = %(number)s AND attempts = %(returns)s AND status = 'doing' AND worker_id = %(worker_id)s FOR UPDATE
"""
_STALLED: Final = """
    SELECT job.id, job.args, job.worker_id
    FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.queue_name = %s AND job.status = 'doing'
        AND coalesce(worker.last_heartbeat < now() - make_interval(secs => %s), true)
    ORDER BY job.id FOR UPDATE OF job SKIP LOCKED
"""
"""Without those that a worker is about to end after all."""


class _Claim(NamedTuple):
    """A row, how often its job was returned before, and which of this process's workers runs it."""

    number: int
    returns: int
    worker_id: int


class ProcrastinateQueue(QueuedJobs):
    """The queue of one namespace, and this process as one of its workers from the first claim on.

    A thread with a connection of its own gives signs of life, so a pool that is used up is not taken for a death.
    `corrupt` names the rows that hold no job.
    """

    def __init__(
        self,
        database: Database,
        namespace: str,
        clock: Clock,
        *,
        changed: threading.Condition | None = None,
        beat_every_s: float = BEAT_EVERY_S,
        silent_s: float = SILENT_S,
    ) -> None:
        """Take up what dead processes left; raises StoreError, and ConfigError where the name is too long."""
        if len(namespace.encode()) > MAX_NAMESPACE_BYTES:
            raise ConfigError(f"the team name {namespace!r} is too long; give it at most {MAX_NAMESPACE_BYTES} letters")
        super().__init__(clock, changed)
        self._database, self._namespace = database, namespace
        self._beat_every_s, self._silent_s = beat_every_s, silent_s
        self._known: dict[tuple[int, int], Job] = {}
        self._claims: dict[str, _Claim] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._away: StoreError | None = None
        with database.writing() as connection:
            self._sweep(connection)

    def restore(self, job: Job) -> Job:
        """Store a job and tell of it, in every process; part of this thread's transaction if there is one."""
        with self._database.writing() as connection:
            return tables.insert(connection, self._namespace, job)

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Claim as every queue does, but not while no sign of life can be given: others would take the job over."""
        with self._changed:
            if self._thread is None:
                self._register()
                self._thread = threading.Thread(target=self._live, name="queue", daemon=True)
                self._thread.start()
            if self._away is not None:
                raise self._away
            return super().claim(wanted)

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs, in any process."""
        found = self._database.read(
            "SELECT 1 FROM procrastinate_jobs WHERE queue_name = %s AND lock = %s AND status IN ('todo', 'doing')",
            [self._namespace, tables.lock_of(self._namespace, key)],
        )
        return bool(found)

    def failed(self) -> list[Job]:
        """Return the jobs that were given up, in order, without what holds none."""
        jobs = []
        for number, args in self._rows("failed"):
            with suppress(ValueError):
                jobs.append(tables.decode(number, args))
        return jobs

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of each record, all or none, and return how many were changed."""
        changed = 0
        with self._database.transaction() as connection:
            for number, args in self._rows("todo", "doing", "failed"):
                with suppress(ValueError):
                    record = tables.record_of(args)
                    if (converted := dict(convert(record))) != record:
                        tables.rewrite(connection, number, converted)
                        changed += 1
        return changed

    def lost_since_ms(self) -> None:
        """Return None: a row that holds no job says nothing of when it was put."""

    def close(self) -> None:
        """Give no more signs of life; what is still claimed is returned by the next process that looks."""
        if self._thread is None:
            return
        self._stopping.set()
        with self._database.writing() as connection:
            tables.tell(connection, self._namespace)
        self._thread.join()
        with self._database.writing() as connection:
            connection.execute(queries["unregister_worker"], {"worker_id": self._worker_id})

    def _rows(self, *statuses: str) -> list[tuple[Any, ...]]:
        return self._database.read(
            "SELECT id, args FROM procrastinate_jobs WHERE queue_name = %s AND status::text = ANY(%s) ORDER BY id",
            [self._namespace, list(statuses)],
        )

    def _look(self) -> tuple[list[Job], set[str]]:
        """Return what waits, in order, each row read once, and the keys of what runs anywhere."""
        with self._database.reading() as connection:
            rows = connection.execute(_ALIVE, [self._namespace]).fetchall()
            waiting = [(number, returns) for number, returns, _, status in rows if status == "todo"]
            if unknown := [place[0] for place in waiting if place not in self._known]:
                found = "SELECT id, attempts, args FROM procrastinate_jobs WHERE id = ANY(%s)"
                for number, returns, args in connection.execute(found, [unknown]).fetchall():
                    self._learn(number, returns, args)
        self._known = {place: self._known[place] for place in waiting if place in self._known}
        prefix = len(tables.lock_of(self._namespace, ""))
        return list(self._known.values()), {lock[prefix:] for _, _, lock, status in rows if status == "doing"}

    def _learn(self, number: int, returns: int, args: object) -> None:
        try:
            self._known[number, returns] = tables.decode(number, args)
        except NewerSchema:  # for a replica of that release
            log.info("a later release's job is left to it", extra={"action": "job_newer", "job": number})
        except ValueError:
            self.corrupt.append(f"procrastinate_jobs: {number}")
            with self._database.writing() as connection:
                tables.keep_failed(connection, number)

    def _start(self, job: Job, claimed: Job) -> bool:
        """Write that a job runs here; False also where this process was taken for dead."""
        place = next(place for place, known in self._known.items() if known is job)
        claim = _Claim(*place, self._worker_id)
        try:
            is_ours = bool(self._database.write(_CLAIM, claim._asdict()))
        except Violated as refused:  # a job of its key was claimed meanwhile, or our worker is gone
            if refused.code == _NO_SUCH_WORKER:
                self._register()
            return False
        except StoreError:
            # It may have been written all the same, and nobody else would return it, for its worker lives.
            self._claims[job.name], self._running[job.name], self._owed[job.name] = claim, claimed, job
            raise
        if is_ours:
            self._claims[job.name] = claim
        return is_ours

    def _end(self, job: Job, outcome: Job | None) -> None:
        """End a claim that still stands: a process that was taken for dead has lost its jobs to others."""
        claim = self._claims[job.name]
        with self._database.transaction() as connection:
            if connection.execute(_HELD, claim._asdict()).fetchone():
                tables.end(connection, self._namespace, claim.number, outcome)
            else:
                log.warning("a claim does not stand any more", extra={"action": "job_lost", "job": job.name})
        del self._claims[job.name]

    def _register(self) -> None:
        """Become a new worker: at the first claim, and after others took this process for dead."""
        with self._database.writing() as connection:
            connection.execute(queries["prune_stalled_workers"], {"seconds_since_heartbeat": FORGOTTEN_S})
            [(self._worker_id,)] = connection.execute(queries["register_worker"])

    def _sweep(self, connection: tables.Connection) -> None:
        """Return the jobs of dead workers to their places; each counts as a death, once, whoever sweeps."""
        given_up = []
        with connection.transaction():
            lock = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
            if connection.execute(lock, [f"triage sweep {self._namespace}"]).fetchone() != (True,):
                return
            found = connection.execute(_STALLED, [self._namespace, self._silent_s]).fetchall()
            held = Counter(worker for _, _, worker in found)
            for number, args, worker in found:
                try:
                    job = tables.decode(number, args)
                except (NewerSchema, ValueError):  # a replica of a later release claimed it, and reads it
                    continue
                claimed = job.model_copy(update={"attempts": job.attempts + 1})
                died = claimed.died(alone=worker is not None and held[worker] == 1)
                tables.end(connection, self._namespace, number, died)
                if died.has_failed:
                    given_up.append(died)
            for worker in filter(None, held):
                connection.execute(queries["unregister_worker"], {"worker_id": worker})
        self._given_up += given_up

    def _live(self) -> None:
        """Give signs of life, return the jobs of those that give none, and hear of changes, until the stop."""
        sweep_at = time.monotonic()
        while not self._stopping.is_set():
            try:
                with self._database.connect() as connection:
                    self._away = None
                    self._attend(connection, sweep_at)
            except StoreError as error:
                self._away = error
            self._stopping.wait(RECONNECT_S)
            # After an outage everybody has been silent: the others need time for a sign of life, too.
            sweep_at = time.monotonic() + self._silent_s

    def _attend(self, connection: tables.Connection, sweep_at: float) -> None:
        """Do so on one connection until it breaks."""
        try:
            with translated():
                connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(tables.channel_of(self._namespace))))
                self._wake()  # of what came while nobody listened
                beat_at = time.monotonic()
                while not self._stopping.is_set():
                    now = time.monotonic()
                    if now >= beat_at:
                        beat_at = now + self._beat_every_s
                        connection.execute(queries["update_heartbeat"], {"worker_id": self._worker_id})
                        if now >= sweep_at:
                            self._sweep(connection)
                    for _ in connection.notifies(timeout=max(0.0, beat_at - time.monotonic()), stop_after=1):
                        self._wake()
        except StoreError as error:
            log.warning("the queue connects anew: %s", error, extra={"action": "queue_deaf"})

    def _wake(self) -> None:
        """Have whoever waits for work look at the tables, unless somebody looks just now."""
        if self._changed.acquire(blocking=False):  # signs of life must not wait for a claim that hangs
            self._changed.notify_all()
            self._changed.release()
