"""What stands in a queue for a job, which job comes next, and what becomes of one that is given back: in every engine.

A record holds the class of the work by name. Before the first release it held `{"investigate": …}` or another form: the
former is read, too; the others are no jobs, and questions in them are queued anew from the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from bot.domain.jobs import WORK_CLASSES, ContinueThread, Job, JobKind, Work
from bot.ports.migrations import SCHEMA_KEY, SCHEMA_VERSION, newer_schema, schema_of, sealed

_NAMES: Final = {work: name for name, work in WORK_CLASSES.items()}


def encode_job(job: Job) -> dict[str, Any]:
    """Return what is stored for a job."""
    payload = {"class": _NAMES[type(job.work)], **job.work.model_dump(mode="json")}
    return sealed({**job.model_dump(mode="json", exclude={"work"}), "payload": payload})


def decode_job(document: Any, place: str = "a job") -> Job:
    """Return the job that a record holds, whichever version wrote it, with the fields that this one does not know.

    Raises:
        NewerSchema: a later version wrote it, in a form of its own.
        ValueError: it is no job.
    """
    fields = dict(document) if isinstance(document, Mapping) else {}
    schema = schema_of(fields)
    if schema is not None and schema > SCHEMA_VERSION:
        raise newer_schema(place, schema)
    fields.pop(SCHEMA_KEY, None)
    work = _decode_work(fields.pop("payload", None))
    return Job.model_validate({**fields, "work": work}, extra="allow")


def _decode_work(payload: Any) -> Work:
    match payload:
        case {"class": name, **fields} if name in WORK_CLASSES:
            return WORK_CLASSES[name].model_validate(fields, extra="allow")
        case {"investigate": thread_id}:
            return ContinueThread(thread_id=thread_id)
    raise ValueError("no work of any version")


MAX_HEARTBEATS: Final = 1
_MAX_REASON: Final = 500
"""Characters of a failure that are kept."""


def next_job(
    waiting: Iterable[Job],
    running: Collection[Job],
    *,
    max_running: int,
    put_off: Collection[str],
    busy: Iterable[str] = (),
) -> Job | None:
    """Return the first job that the caps allow: at most `max_running`, one heartbeat, one for each key.

    `waiting` is in order; the keys of `put_off` come behind the others, for what met an outage may be that job's alone,
    and one key keeps its order. `running` is what runs here, `busy` the keys for which a job runs elsewhere.
    """
    if len(running) >= max_running or any(job.runs_alone for job in running):
        return None
    taken = {*busy, *(job.key for job in running)}
    heartbeats = sum(job.kind is JobKind.HEARTBEAT for job in running)
    for job in sorted(waiting, key=lambda job: job.key in put_off):
        if job.key not in taken and (job.kind is JobKind.USER or heartbeats < MAX_HEARTBEATS):
            return job if not (job.runs_alone and running) else None
        taken.add(job.key)
    return None


def returned_job(job: Job, why: str, *, count: bool) -> Job:
    """Return a claimed job as it waits again; with `count=False` the attempt is not held against it."""
    if not count:
        return job.model_copy(update={"attempts": job.attempts - 1})
    return job.model_copy(update={"failures": (*job.failures, why[:_MAX_REASON])})
