"""Rules of the queue that all engines share: what a job's record holds, which job is next, what becomes of claimed
ones.

A record holds the class of the work by name. Before the first release it held `{"investigate": …}` or another form:
the former is still read; records of other forms are not jobs, and their questions are queued anew from the journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final, Generic, TypeVar

from bot.domain.jobs import FORMER_CLASSES, WORK_CLASSES, ContinueThread, Job, JobKind, Work
from bot.ports import Clock
from bot.ports.migrations import SCHEMA_KEY, SCHEMA_VERSION, newer_schema, schema_of, sealed

_NAMES: Final = {work: name for name, work in WORK_CLASSES.items()}
_READ: Final = {**WORK_CLASSES, **FORMER_CLASSES}

MAX_HEARTBEATS: Final = 1
_MAX_REASON: Final = 500
"""Characters of a failure that are kept."""

Claim = TypeVar("Claim")


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
        case {"class": name, **fields} if name in _READ:
            return _READ[name].model_validate(fields, extra="allow")
        case {"investigate": thread_id}:
            return ContinueThread(thread_id=thread_id)
    raise ValueError("no work of any version")


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


class ClaimedJobs(Generic[Claim]):
    """The jobs that run here, by name, and how they end; an engine says what it keeps of each.

    `changed` is notified of new work. `corrupt` names what holds no job. What the store refuses is tried again before
    anything else; until then a job keeps its key and its place.
    """

    def __init__(self, clock: Clock, *, max_running: int, changed: threading.Condition | None) -> None:
        self._clock, self._max_running = clock, max_running
        self._changed = changed or threading.Condition()
        self._running: dict[str, Claim] = {}
        self._put_off: set[str] = set()
        self._owed: dict[str, Callable[[], None]] = {}
        self._given_up: list[Job] = []
        self.corrupt: list[str] = []

    def done(self, job: Job) -> None:
        """Forget a claimed job."""

        def forget(claim: Claim) -> None:
            self._forget(claim)
            self._put_off.discard(job.key)

        self._owe(job, forget)

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place, or keep it as failed after its last attempt; True if it will run again.

        With `count=False` the attempt is not held against it.
        """
        changes = {"failures": (*job.failures, why[:_MAX_REASON])} if count else {"attempts": job.attempts - 1}
        returned = job.model_copy(update=changes)

        def put_back(claim: Claim) -> None:
            self._put_back(claim, returned)
            (self._put_off.discard if count else self._put_off.add)(job.key)

        self._owe(job, put_back)
        return not returned.has_failed

    def take_given_up(self) -> list[Job]:
        """Return, once each, the jobs that were found to have killed their process too often."""
        taken = []
        while self._given_up:
            taken.append(self._given_up.pop(0))
        return taken

    def _owe(self, job: Job, deed: Callable[[Claim], None]) -> None:
        with self._changed:
            if (claim := self._running.get(job.name)) is not None:
                self._owed[job.name] = partial(deed, claim)
            self._settle()

    def _settle(self) -> None:
        """Do what is owed to the store."""
        for name, deed in list(self._owed.items()):
            deed()
            del self._owed[name]
            self._running.pop(name, None)
            self._changed.notify()

    def _forget(self, claim: Claim) -> None:
        """Remove a job that is done; raises StoreError."""
        raise NotImplementedError

    def _put_back(self, claim: Claim, returned: Job) -> None:
        """Let a job wait again, or keep it where it has failed; raises StoreError."""
        raise NotImplementedError
