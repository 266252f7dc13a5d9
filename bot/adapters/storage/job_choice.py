"""Which job comes next, and what becomes of one that is given back: the same in every engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from bot.domain.jobs import Job, JobKind

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
