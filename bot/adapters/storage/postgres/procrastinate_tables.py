"""Jobs as rows of Procrastinate's tables, on a connection of ours, so that a job belongs to our transaction.

Procrastinate's own statements end jobs and let them wait again; its unique index lets one job of a key run, and its
trigger tells of new ones. `args` holds a job as text: jsonb refuses some of what chats send. The column `attempts`
counts how often a job was returned, and so tells one claim of a job from the next.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

import psycopg
from procrastinate.sql import queries

from bot.adapters.storage.queued_jobs import decode_job, encode_job
from bot.domain.jobs import Job, JobKind

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_INSERT: Final = """
    INSERT INTO procrastinate_jobs (queue_name, lock, task_name, priority, args, status)
    VALUES (%s, %s, %s, %s, %s::jsonb, %s::procrastinate_job_status) RETURNING id
"""


def insert(connection: Connection, namespace: str, job: Job) -> Job:
    """Store a job, waiting or failed, and return it with its id."""
    status = "failed" if job.has_failed else "todo"
    [(number,)] = connection.execute(_INSERT, [namespace, *values_of(namespace, job), status])
    return _numbered(job, number)


def values_of(namespace: str, job: Job) -> list[Any]:
    """Return what a job's row holds: its lock, the name of its task, its priority and its arguments."""
    priority = int(job.kind is JobKind.USER)
    return [lock_of(namespace, job.key), type(job.work).__name__, priority, _args(_record(job))]


def decode(number: int, args: Any) -> Job:
    """Return the job that a row holds.

    Raises:
        NewerSchema: a later version wrote it.
        ValueError: it is no job.
    """
    return _numbered(decode_job(record_of(args), f"the job {number}"), number)


def record_of(args: Any) -> dict[str, Any]:
    """Return the record in a row; raises ValueError where there is none."""
    match args:
        case {"job": str(text)} if isinstance(record := json.loads(text), dict):
            return record
    raise ValueError("no job")


def rewrite(connection: Connection, number: int, record: dict[str, Any]) -> None:
    """Store another record in a row."""
    connection.execute("UPDATE procrastinate_jobs SET args = %s::jsonb WHERE id = %s", [_args(record), number])


def end(connection: Connection, namespace: str, number: int, outcome: Job | None) -> None:
    """Forget a claimed job, or let it wait again in its place, or keep it as failed; tell every process of it.

    Procrastinate tells of new jobs only; the next one of the key may be claimed now.
    """
    if outcome is None:
        connection.execute(queries["finish_job"], {"job_id": number, "status": "succeeded", "delete_job": True})
    else:
        rewrite(connection, number, _record(outcome))
        if outcome.has_failed:
            keep_failed(connection, number)
        else:
            unchanged = dict.fromkeys(("retry_at", "new_priority", "new_queue_name", "new_lock"))
            connection.execute(queries["retry_job"], {"job_id": number, **unchanged})
    tell(connection, namespace)


def keep_failed(connection: Connection, number: int) -> None:
    """Keep a row as it is among those that are not run any more."""
    connection.execute(queries["finish_job"], {"job_id": number, "status": "failed", "delete_job": False})


def channel_of(namespace: str) -> str:
    """Return the channel on which Procrastinate tells of new jobs."""
    return f"procrastinate_queue_v1#{namespace}"


def tell(connection: Connection, namespace: str) -> None:
    """Have every process look at the queue once this is committed."""
    connection.execute("SELECT pg_notify(%s, '{}')", [channel_of(namespace)])


def lock_of(namespace: str, key: str) -> str:
    """Return the name by which jobs of a key exclude each other; Procrastinate has one set of locks for all queues."""
    return f"{namespace}:{key}"


def _record(job: Job) -> dict[str, Any]:
    """Return what is stored of a job: its row numbers it."""
    return encode_job(job.model_copy(update={"job_id": job.work.job_id or ""}))


def _args(record: dict[str, Any]) -> str:
    return json.dumps({"job": json.dumps(record)})


def _numbered(job: Job, number: int) -> Job:
    return job.model_copy(update={"job_id": job.work.job_id or f"{number:06d}"})
