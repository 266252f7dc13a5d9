"""Jobs in Procrastinate's tables: each function is one step of a job's life, on a connection of ours.

Procrastinate inserts, finishes, retries and finds the stalled; its unique index lets one job of a key run. One step is
ours: `start` takes a job that this program chose; Procrastinate's own `fetch_job` takes the first one by its own rules.
`args` holds the job as text: jsonb refuses some of what chats send. The column `attempts` counts how often a job was
returned, and so tells one claim of a job from the next.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping
from datetime import datetime
from typing import Any, Final, LiteralString, NamedTuple, TypeAlias, TypeVar, cast

import psycopg
from procrastinate.jobs import Job as QueuedJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from psycopg.rows import dict_row
from psycopg.types.json import JsonbDumper

from bot.adapters.storage.queued_jobs import decode_job, encode_job
from bot.domain.jobs import Job, JobKind, Work

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")
PRIORITIES: Final[Mapping[JobKind, int]] = {JobKind.USER: 1, JobKind.HEARTBEAT: 0}


class JobRow(NamedTuple):
    """A job and the row that holds it."""

    number: int
    returns: int
    job: Job


class QueueState(NamedTuple):
    """What a look at a queue finds: which jobs wait, in order, and for which keys a job runs, here or elsewhere."""

    waiting: list[tuple[int, int]]
    """The number and the returns of each row."""
    busy: set[str]


def new_job(work: Work, *, at: datetime) -> Job:
    """Return a job for it that has no id yet: its row numbers it."""
    return Job(kind=work.kind, key=work.key, work=work, epoch_ms=int(at.timestamp() * 1000), job_id="")


def values_of(namespace: str, job: Job) -> list[Any]:
    """Return what a job's row holds: its lock, the name of its task, its priority and its arguments."""
    return [lock_of(namespace, job.key), type(job.work).__name__, PRIORITIES[job.kind], json.dumps(_args(job))]


def insert(connection: Connection, namespace: str, job: Job) -> Job:
    """Store a job and return it with its id."""
    queued = _manager(connection).defer_job(
        QueuedJob(
            queue=namespace,
            task_name=type(job.work).__name__,
            priority=PRIORITIES[job.kind],
            lock=lock_of(namespace, job.key),
            queueing_lock=None,
            task_kwargs=_args(job),
        )
    )
    return _numbered(job, queued.id or 0)


def restore(connection: Connection, namespace: str, job: Job, status: str, worker_id: int | None) -> None:
    """Store a job that was in another engine, behind what is there; one that ran belongs to a worker."""
    is_doing = status == "doing"
    connection.execute(
        "INSERT INTO procrastinate_jobs (queue_name, lock, task_name, priority, args, status, worker_id) "
        "VALUES (%s, %s, %s, %s, %s::jsonb, %s::procrastinate_job_status, %s)",
        [
            namespace,
            # what is stored of a job that runs does not count its attempt yet, see `start`
            *values_of(namespace, job.model_copy(update={"attempts": job.attempts - is_doing})),
            status,
            worker_id if is_doing else None,
        ],
    )


def dead_worker(connection: Connection) -> int:
    """Return the id of a new worker that died an hour ago: what it holds is returned, and counts as its death."""
    [(number,)] = connection.execute(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour') RETURNING id"
    )
    return int(number)


def look(connection: Connection, namespace: str) -> QueueState:
    """Return what waits and what runs, as it is at one moment."""
    rows = connection.execute(
        "SELECT id, attempts, lock, status::text FROM procrastinate_jobs "
        "WHERE queue_name = %s AND status IN ('todo', 'doing') ORDER BY priority DESC, id",
        [namespace],
    ).fetchall()
    prefix = len(lock_of(namespace, ""))
    return QueueState(
        waiting=[(number, returns) for number, returns, _, status in rows if status == "todo"],
        busy={str(lock)[prefix:] for _, _, lock, status in rows if status == "doing"},
    )


def read(connection: Connection, numbers: list[int]) -> list[tuple[int, int, Any]]:
    """Return the number, the returns and the arguments of rows."""
    rows: list[tuple[int, int, Any]] = connection.execute(
        "SELECT id, attempts, args FROM procrastinate_jobs WHERE id = ANY(%s)", [numbers]
    ).fetchall()
    return rows


def decode(number: int, returns: int, args: Any) -> JobRow:
    """Return a row as a job.

    Raises:
        NewerSchema: a later version wrote it.
        ValueError: it is no job.
    """
    try:
        record = json.loads(args["job"])
    except (KeyError, TypeError) as error:
        raise ValueError("no job") from error
    return JobRow(number, returns, _numbered(decode_job(record, f"the job {number}"), number))


def start(connection: Connection, row: JobRow, worker_id: int) -> bool:
    """Claim a waiting job for a worker; False where somebody was faster.

    Raises:
        psycopg.errors.UniqueViolation: another job of its key was claimed meanwhile.
        psycopg.errors.ForeignKeyViolation: the worker was taken for dead.
    """
    claimed = connection.execute(
        "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s "
        "WHERE id = %s AND status = 'todo' AND attempts = %s",
        [worker_id, row.number, row.returns],
    )
    return bool(claimed.rowcount)


def is_held(connection: Connection, row: JobRow, worker_id: int) -> bool:
    """Whether a claim is still this worker's; if so, it stays until the transaction ends."""
    held = connection.execute(
        "SELECT 1 FROM procrastinate_jobs "
        "WHERE id = %s AND status = 'doing' AND attempts = %s AND worker_id = %s FOR UPDATE",
        [row.number, row.returns, worker_id],
    ).fetchone()
    return held is not None


def forget(connection: Connection, namespace: str, number: int) -> None:
    """Delete a claimed job that is done."""
    _finished(_manager(connection).finish_job_by_id_async(number, Status.SUCCEEDED, delete_job=True))
    tell(connection, namespace)


def claimed_by(connection: Connection, worker_id: int, known: list[int]) -> list[int]:
    """Return the rows that a worker has claimed beside those it knows of."""
    rows = connection.execute(
        "SELECT id FROM procrastinate_jobs WHERE worker_id = %s AND status = 'doing' AND id <> ALL(%s) FOR UPDATE",
        [worker_id, known],
    ).fetchall()
    return [number for (number,) in rows]


def put_back(connection: Connection, namespace: str, number: int, job: Job | None, *, at: datetime) -> None:
    """Let a claimed job wait again, in its place, as it is now, or as it was found."""
    if job is not None:
        _rewrite(connection, number, job)
    _manager(connection).retry_job_by_id(number, retry_at=at)
    tell(connection, namespace)


def give_up(connection: Connection, namespace: str, number: int, job: Job | None) -> None:
    """Keep a job among those that are not run any more, as it is now, or as it was found."""
    if job is not None:
        _rewrite(connection, number, job)
    _finished(_manager(connection).finish_job_by_id_async(number, Status.FAILED, delete_job=False))
    tell(connection, namespace)


def stalled(connection: Connection, namespace: str, silent_s: float) -> list[tuple[int, int | None]]:
    """Return the rows of workers without a sign of life, each with its worker, and keep them until the end.

    One that its worker is about to end after all is left out.
    """
    found = _finished(_manager(connection).get_stalled_jobs(queue=namespace, seconds_since_heartbeat=silent_s))
    workers = {one.id: one.worker_id for one in found}
    kept = connection.execute(
        "SELECT id, worker_id FROM procrastinate_jobs WHERE id = ANY(%s) AND status = 'doing' FOR UPDATE SKIP LOCKED",
        [list(workers)],
    ).fetchall()
    return [(number, worker) for number, worker in kept if workers[number] == worker]


def register_worker(connection: Connection) -> int:
    """Return the id of a new worker."""
    return int(_finished(_manager(connection).register_worker()))


def beat(connection: Connection, worker_id: int) -> None:
    """Give a sign of life."""
    _finished(_manager(connection).update_heartbeat(worker_id))


def unregister_worker(connection: Connection, worker_id: int) -> None:
    """Forget a worker; what it still holds counts as stalled."""
    _finished(_manager(connection).unregister_worker(worker_id))


def forget_workers(connection: Connection, *, silent_s: float) -> None:
    """Forget every worker, of all queues, that has been silent for so long."""
    _finished(_manager(connection).prune_stalled_workers(seconds_since_heartbeat=silent_s))


def channel_of(namespace: str) -> str:
    """Return the channel on which Procrastinate tells of new jobs."""
    return f"procrastinate_queue_v1#{namespace}"


def tell(connection: Connection, namespace: str) -> None:
    """Have every process look at the queue once this is committed: Procrastinate tells of new jobs only."""
    connection.execute("SELECT pg_notify(%s, '{}')", [channel_of(namespace)])


def lock_of(namespace: str, key: str) -> str:
    """Return the name by which jobs of a key exclude each other; Procrastinate has one set of locks for all queues."""
    return f"{namespace}:{key}"


def _args(job: Job) -> dict[str, Any]:
    return {"job": json.dumps(encode_job(job.model_copy(update={"job_id": job.work.job_id or ""})))}


def _numbered(job: Job, number: int) -> Job:
    return job.model_copy(update={"job_id": job.work.job_id or f"{number:06d}"})


def _rewrite(connection: Connection, number: int, job: Job) -> None:
    connection.execute("UPDATE procrastinate_jobs SET args = %s::jsonb WHERE id = %s", [json.dumps(_args(job)), number])


class _OnConnection:
    """What JobManager asks of a connector, on one connection, so that its statements belong to our transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_sync_connector(self) -> _OnConnection:
        return self

    def execute_query(self, query: LiteralString, **arguments: Any) -> None:
        self._connection.execute(query, arguments)

    def execute_query_one(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return self.execute_query_all(query, **arguments)[0]

    def execute_query_all(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        with self._connection.cursor(row_factory=dict_row) as cursor:
            cursor.adapters.register_dumper(dict, JsonbDumper)
            rows: list[dict[str, Any]] = cursor.execute(query, arguments).fetchall()
            return rows

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        self.execute_query(query, **arguments)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return self.execute_query_one(query, **arguments)

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return self.execute_query_all(query, **arguments)


def _manager(connection: Connection) -> JobManager:
    return JobManager(cast(Any, _OnConnection(connection)))


def _finished(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns that waits for nothing: half of Procrastinate's calls exist as such only."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise RuntimeError("a statement of Procrastinate's waits for an event loop")
