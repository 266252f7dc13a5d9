"""Port JobQueue over Procrastinate's tables, for as many processes as there are.

Three things are ours beside Procrastinate: a claim takes the job that the rules of queued_jobs.py choose, where
`fetch_job` takes the first one by its own; jobs of dead workers return with a counted death (bot/domain/jobs.py); and
every process is told when a job ends or returns, not only of new ones. That no two jobs of a key run at once holds for
all processes, by Procrastinate's unique index; the order after an outage is each process's own.

Statements run on connections of ours, so that a job belongs to our transaction. The column `args` holds a job as text:
jsonb refuses some of what chats send. `attempts` counts how often a job was returned, and so tells one claim of it
from the next.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from procrastinate.sql import queries
from psycopg import sql

from bot.adapters.storage.files.spool_queue import QueuedJobs, decode_job, encode_job
from bot.adapters.storage.postgres.database import Connection, Database, Violated, translated
from bot.domain.jobs import Job, JobKind
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

_INSERT: Final = """
    INSERT INTO procrastinate_jobs (queue_name, lock, task_name, priority, args, status)
    VALUES (%s, %s, %s, %s, %s::jsonb, %s::procrastinate_job_status) RETURNING id
"""
_REWRITE: Final = "UPDATE procrastinate_jobs SET args = %s::jsonb WHERE id = %s"
_ALIVE: Final = """
    SELECT id, attempts, lock, status::text FROM procrastinate_jobs
    WHERE queue_name = %s AND status IN ('todo', 'doing') ORDER BY priority DESC, id
"""
_CLAIM: Final = """
    WITH alive AS (
        INSERT INTO procrastinate_workers (id) OVERRIDING SYSTEM VALUE VALUES (%(worker_id)s)
        ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
    )
    UPDATE procrastinate_jobs SET status = 'doing', worker_id = %(worker_id)s
    WHERE id = %(number)s AND attempts = %(returns)s AND status = 'todo' RETURNING id
"""
"""Also where others took this process for dead, and forgot its worker."""

_HELD: Final = "SELECT 1 FROM procrastinate_jobs WHERE id = %s AND attempts = %s AND status = 'doing' FOR UPDATE"
_STALLED: Final = """
    SELECT job.id, job.args, job.worker_id
    FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.queue_name = %s AND job.status = 'doing'
        AND coalesce(worker.last_heartbeat < now() - make_interval(secs => %s), true)
    ORDER BY job.id FOR UPDATE OF job SKIP LOCKED
"""
"""Without those that a worker is about to end after all."""


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
        self._channel = f"procrastinate_queue_v1#{namespace}"
        self._beat_every_s, self._silent_s = beat_every_s, silent_s
        self._known: dict[tuple[int, int], Job] = {}
        self._claims: dict[str, tuple[int, int]] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._away: StoreError | None = None
        with database.writing() as connection:
            self._sweep(connection)

    def restore(self, job: Job) -> Job:
        """Store a job and tell of it, in every process; part of this thread's transaction if there is one."""
        status = "failed" if job.has_failed else "todo"
        row = [self._namespace, *values_of(self._namespace, job), status]
        [(number,)] = self._database.write(_INSERT, row)
        return _numbered(job, number)

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Claim as every queue does, but not while no sign of life can be given: others would take the job over."""
        with self._changed:
            if self._thread is None:
                self._database.write(queries["prune_stalled_workers"], {"seconds_since_heartbeat": FORGOTTEN_S})
                [(self._worker_id,)] = self._database.write(queries["register_worker"])
                self._thread = threading.Thread(target=self._live, name="queue", daemon=True)
                self._thread.start()
            if self._away is not None:
                raise self._away
            return super().claim(wanted)

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs, in any process."""
        found = self._database.read(
            "SELECT 1 FROM procrastinate_jobs WHERE queue_name = %s AND lock = %s AND status IN ('todo', 'doing')",
            [self._namespace, lock_of(self._namespace, key)],
        )
        return bool(found)

    def failed(self) -> list[Job]:
        """Return the jobs that were given up, in order, without what holds none."""
        jobs = []
        for number, args in self._rows("failed"):
            with suppress(ValueError):
                jobs.append(_decode(number, args))
        return jobs

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of each record, all or none, and return how many were changed."""
        changed = 0
        with self._database.transaction() as connection:
            for number, args in self._rows("todo", "doing", "failed"):
                with suppress(ValueError):
                    record = _record_of(args)
                    if (converted := dict(convert(record))) != record:
                        connection.execute(_REWRITE, [_args(converted), number])
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
            self._tell(connection)
        self._thread.join()
        self._database.write(queries["unregister_worker"], {"worker_id": self._worker_id})

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
        prefix = len(lock_of(self._namespace, ""))
        return list(self._known.values()), {lock[prefix:] for _, _, lock, status in rows if status == "doing"}

    def _learn(self, number: int, returns: int, args: object) -> None:
        try:
            self._known[number, returns] = _decode(number, args)
        except NewerSchema:  # for a replica of that release
            log.info("a later release's job is left to it", extra={"action": "job_newer", "job": number})
        except ValueError:
            with self._database.writing() as connection:
                _stop(connection, number, is_kept=True)
            self._name_corrupt(number)

    def _name_corrupt(self, number: int) -> None:
        self.corrupt.append(f"procrastinate_jobs: {number}")
        log.warning("a row holds no job and was given up", extra={"action": "job_corrupt", "job": number})

    def _start(self, job: Job, claimed: Job) -> bool:
        """Write that a job runs here; False also where this process was taken for dead."""
        number, returns = claim = next(place for place, known in self._known.items() if known is job)
        given = {"number": number, "returns": returns, "worker_id": self._worker_id}
        try:
            is_ours = bool(self._database.write(_CLAIM, given))
        except Violated:  # a job of its key was claimed meanwhile
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
        number, returns = self._claims[job.name]
        with self._database.transaction() as connection:
            if connection.execute(_HELD, [number, returns]).fetchone():
                self._let_go(connection, number, outcome)
            else:
                log.warning("a claim does not stand any more", extra={"action": "job_lost", "job": job.name})
        del self._claims[job.name]

    def _let_go(self, connection: Connection, number: int, outcome: Job | None) -> None:
        """Forget a claimed job, or let it wait again in its place, or keep it as failed; tell every process of it.

        Procrastinate tells of new jobs only; the next one of the key may be claimed now.
        """
        if outcome is not None:
            connection.execute(_REWRITE, [_args(encode_job(outcome)), number])
        if outcome is None or outcome.has_failed:
            _stop(connection, number, is_kept=outcome is not None)
        else:
            unchanged = dict.fromkeys(("retry_at", "new_priority", "new_queue_name", "new_lock"))
            connection.execute(queries["retry_job"], {"job_id": number, **unchanged})
        self._tell(connection)

    def _tell(self, connection: Connection) -> None:
        """Have every process look at the queue once this is committed."""
        connection.execute("SELECT pg_notify(%s, '{}')", [self._channel])

    def _sweep(self, connection: Connection) -> None:
        """Return the jobs of dead workers to their places; each counts as a death, once, whoever sweeps."""
        given_up, corrupt = [], []
        with connection.transaction():
            lock = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
            if connection.execute(lock, [f"triage sweep {self._namespace}"]).fetchone() != (True,):
                return
            found = connection.execute(_STALLED, [self._namespace, self._silent_s]).fetchall()
            held = Counter(worker for _, _, worker in found)
            for number, args, worker in found:
                try:
                    job = _decode(number, args)
                except NewerSchema:  # a replica of a later release claimed it, and reads it
                    continue
                except ValueError:
                    _stop(connection, number, is_kept=True)
                    self._tell(connection)
                    corrupt.append(number)
                    continue
                claimed = job.model_copy(update={"attempts": job.attempts + 1})
                died = claimed.died(alone=worker is not None and held[worker] == 1)
                self._let_go(connection, number, died)
                if died.has_failed:
                    given_up.append(died)
            for worker in filter(None, held):
                connection.execute(queries["unregister_worker"], {"worker_id": worker})
        self._given_up += given_up
        for number in corrupt:
            self._name_corrupt(number)

    def _live(self) -> None:
        """Give signs of life, return the jobs of those that give none, and hear of changes, until the stop."""
        sweep_at = time.monotonic()
        while not self._stopping.is_set():
            try:
                with self._database.connect() as connection:
                    self._away = None
                    with suppress(StoreError), translated():  # what breaks is made anew
                        self._attend(connection, sweep_at)
            except StoreError as error:
                self._away = error
            self._stopping.wait(RECONNECT_S)
            # After an outage everybody has been silent: the others need time for a sign of life, too.
            sweep_at = time.monotonic() + self._silent_s

    def _attend(self, connection: Connection, sweep_at: float) -> None:
        """Do so on one connection until it breaks; raises psycopg.Error."""
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
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

    def _wake(self) -> None:
        """Have whoever waits for work look at the tables, unless somebody looks just now."""
        if self._changed.acquire(blocking=False):  # signs of life must not wait for a claim that hangs
            self._changed.notify_all()
            self._changed.release()


def values_of(namespace: str, job: Job) -> list[Any]:
    """Return what a job's row holds: its lock, the name of its task, its priority and its arguments."""
    priority = int(job.kind is JobKind.USER)
    return [lock_of(namespace, job.key), type(job.work).__name__, priority, _args(encode_job(job))]


def lock_of(namespace: str, key: str) -> str:
    """Return the name by which jobs of a key exclude each other; Procrastinate has one set of locks for all queues."""
    return f"{namespace}:{key}"


def _args(record: Mapping[str, Any]) -> str:
    return json.dumps({"job": json.dumps(record)})


def _record_of(args: object) -> dict[str, Any]:
    """Return the record in a row; raises ValueError where there is none."""
    match args:
        case {"job": str(text)} if isinstance(record := json.loads(text), dict):
            return record
    raise ValueError("no job")


def _decode(number: int, args: object) -> Job:
    """Return the job that a row holds.

    Raises:
        NewerSchema: a later version wrote it.
        ValueError: it is no job.
    """
    return _numbered(decode_job(_record_of(args), f"the job {number}"), number)


def _numbered(job: Job, number: int) -> Job:
    """Return a job with the id that its row gives it."""
    return job.model_copy(update={"job_id": job.work.job_id or f"{number:06d}"})


def _stop(connection: Connection, number: int, *, is_kept: bool) -> None:
    """Take a row out of what is run: kept as it is as failed, or deleted."""
    status = "failed" if is_kept else "succeeded"
    connection.execute(queries["finish_job"], {"job_id": number, "status": status, "delete_job": not is_kept})
