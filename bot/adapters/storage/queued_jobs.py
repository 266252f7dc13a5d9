"""Rules of the queue that all engines share: what a job's record holds, which job is next, how claimed ones end.

A record holds the class of the work by name. Before the first release it held `{"investigate": …}` or another form:
the former is still read; records of other forms are not jobs, and their questions are queued anew from the journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from bot.domain.jobs import FORMER_CLASSES, WORK_CLASSES, ContinueThread, Job, Work
from bot.ports import Clock, any_job
from bot.ports.migrations import SCHEMA_KEY, schema_of, sealed

_NAMES: Final = {work: name for name, work in WORK_CLASSES.items()}
_READ: Final = {**WORK_CLASSES, **FORMER_CLASSES}

_MAX_REASON: Final = 500
"""Characters of a failure that are kept."""


def new_job(work: Work, *, at: datetime) -> Job:
    """Return a job for it that has no id yet: its queue gives it one."""
    return Job(kind=work.kind, key=work.key, work=work, epoch_ms=int(at.timestamp() * 1000), job_id="")


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
    schema_of(fields, place)
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


class QueuedJobs:
    """Which job is next, and how those that run here end; an engine says where jobs lie.

    `changed` is notified of new work. `corrupt` names what holds no job. What the store refuses is tried again before
    anything else; until then a job keeps its key and its place.
    """

    def __init__(self, clock: Clock, changed: threading.Condition | None) -> None:
        self._clock, self._changed = clock, changed or threading.Condition()
        self._running: dict[str, Job] = {}
        self._owed: dict[str, Job | None] = {}
        self._put_off: set[str] = set()
        self._given_up: list[Job] = []
        self.corrupt: list[str] = []

    def put(self, work: Work) -> Job:
        """Store a job for it and tell of it; raises StoreError when the store refuses."""
        return self.restore(new_job(work, at=self._clock.now()))

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the first wanted job for whose key nothing runs."""
        with self._changed:
            self._settle()
            while (job := self._next(wanted)) is not None:
                claimed = job.model_copy(update={"attempts": job.attempts + 1})
                if self._start(job, claimed):
                    self._running[job.name] = claimed
                    return claimed
            return None

    def _next(self, wanted: Callable[[Job], bool]) -> Job | None:
        """Return the next job; keys that met an outage, which may be theirs alone, come behind the others, in order."""
        waiting, busy = self._look()
        taken = {*busy, *(job.key for job in self._running.values())}
        in_order = sorted(waiting, key=lambda job: job.key in self._put_off)
        return next((job for job in in_order if job.key not in taken and wanted(job)), None)

    def done(self, job: Job) -> None:
        """Forget a claimed job."""
        self._owe(job, None)

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place, or keep it as failed after its last attempt; True if it will run again.

        With `count=False` the attempt is not held against it.
        """
        changes = {"failures": (*job.failures, why[:_MAX_REASON])} if count else {"attempts": job.attempts - 1}
        returned = job.model_copy(update=changes)
        self._owe(job, returned, puts_off=not count)
        return not returned.has_failed

    def unclaimed(self) -> list[Job]:
        """Return the jobs that nobody works on yet, in order."""
        with self._changed:
            return list(self._look()[0])

    def take_given_up(self) -> list[Job]:
        """Return, once each, the jobs that were found to have killed their process too often."""
        taken = list(self._given_up)
        del self._given_up[: len(taken)]
        return taken

    def _owe(self, job: Job, outcome: Job | None, *, puts_off: bool = False) -> None:
        with self._changed:
            if job.name in self._running:
                self._owed[job.name] = outcome
                (self._put_off.add if puts_off else self._put_off.discard)(job.key)
            self._settle()

    def _settle(self) -> None:
        """Do what is owed to the store."""
        for name, outcome in list(self._owed.items()):
            self._end(self._running[name], outcome)
            del self._owed[name], self._running[name]
            self._changed.notify()

    def restore(self, job: Job) -> Job:
        """Store a job behind those of its kind, and return it with the id that it has here; raises StoreError."""
        raise NotImplementedError

    def _look(self) -> tuple[Iterable[Job], Collection[str]]:
        """Return what waits, in order, and for which keys a job runs in other processes; raises StoreError."""
        raise NotImplementedError

    def _start(self, job: Job, claimed: Job) -> bool:
        """Store that a waiting job runs here; False where another process was faster. Raises StoreError."""
        raise NotImplementedError

    def _end(self, job: Job, outcome: Job | None) -> None:
        """Forget a job that ran here, or let it wait again, or keep it as failed, as `outcome` says.

        Raises:
            StoreError: nothing has changed.
        """
        raise NotImplementedError
