"""The job queue as a spool of files: one file a job, moved by rename; and how the queues of all engines write a job.

What a job counted (its tries, its deaths) stands in its text. A job that keeps killing its worker once runs alone, and
then no more. One process owns the spool (see bot/adapters/storage/files/file_leases.py).
"""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import (
    create_folder,
    list_files,
    make_folder,
    read_json,
    remove_file,
    replace_json,
    set_aside,
)
from bot.domain.jobs import FORMER_CLASSES, WORK_CLASSES, ContinueThread, Job, JobKind, Work, queue_order
from bot.errors import StoreError, refused
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


log = logging.getLogger(__name__)

_JOBS = "*_*_*.json"
_USER_JOB = re.compile(rf"{JobKind.USER}_(\d{{1,15}})_")


class SpoolQueue(QueuedJobs):
    """Port JobQueue over a folder; `corrupt` names what was found beyond repair."""

    def __init__(self, folder: Path, clock: Clock, *, changed: threading.Condition | None = None) -> None:
        super().__init__(clock, changed)
        self._waiting_dir = make_folder(folder)
        self._running_dir = make_folder(folder / "running")
        self._failed_dir = make_folder(folder / "failed")
        self._last_ms: Counter[JobKind] = Counter()
        self._sequence = 0
        self._recover()
        self._waiting = {job.name: job for job in self._load(self._waiting_dir)}

    def restore(self, job: Job) -> Job:
        """Store a job under a name that comes last in its kind: a clock may go back, and those of replicas differ."""
        with self._changed:
            number, epoch_ms = self._sequence + 1, max(self._last_ms[job.kind] + 1, job.epoch_ms)
            named = job.model_copy(update={"epoch_ms": epoch_ms, "job_id": job.work.job_id or f"{number:06d}"})
            self._write(self._place(named), named)
            self._sequence, self._last_ms[job.kind] = number, epoch_ms
            if not named.has_failed:
                self._waiting[named.name] = named
                self._changed.notify()
            return named

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs."""
        with self._changed:
            return any(job.key == key for jobs in (self._waiting, self._running) for job in jobs.values())

    def failed(self) -> list[Job]:
        """Return the jobs that were given up, in order."""
        return sorted(self._load(self._failed_dir), key=_order)

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of each record, and return how many were changed; raises StoreError."""
        changed = 0
        for path in (*list_files(self._waiting_dir, _JOBS), *list_files(self._failed_dir, _JOBS)):
            record = read_json(path)
            if record is not None and (converted := dict(convert(record))) != record:
                replace_json(path, converted)
                changed += 1
        return changed

    def close(self) -> None:
        """Nothing is open."""

    def lost_since_ms(self) -> int | None:
        """Return from when on jobs may be missing, by the names of the damaged files that still lie here."""
        names = [path.name for folder in (self._waiting_dir, self._running_dir) for path in folder.glob("*.corrupt")]
        return min((int(found[1]) for name in names if (found := _USER_JOB.match(name))), default=None)

    def _look(self) -> tuple[list[Job], tuple[()]]:
        return sorted(self._waiting.values(), key=_order), ()

    def _start(self, job: Job, claimed: Job) -> bool:
        self._write(self._waiting_dir, claimed)
        self._move(job.name, self._waiting_dir, self._running_dir)
        del self._waiting[job.name]
        return True

    def _end(self, job: Job, outcome: Job | None) -> None:
        if outcome is None:
            remove_file(self._running_dir / job.name)
            return
        try:
            self._write(self._running_dir, outcome)
        except StoreError as error:  # on a full disk it goes back without its reason: its place would block its key
            log.warning("a job's reason is not on disk: %s", error, extra={"action": "reason_lost"})
        self._move(job.name, self._running_dir, self._place(outcome))
        if not outcome.has_failed:
            self._waiting[job.name] = outcome

    def _recover(self) -> None:
        left = self._load(self._running_dir)
        for job in left:
            died = job.died(alone=len(left) == 1)
            if died.has_failed:
                self._given_up.append(died)
            self._write(self._place(died), died)
            # last: a start that is killed here counts the same death again, from the same file
            remove_file(self._running_dir / job.name)

    def _load(self, folder: Path) -> list[Job]:
        jobs = []
        for path in list_files(folder, _JOBS):
            try:
                job = decode_job(read_json(path), str(path))
                if job.name != path.name:
                    raise ValueError("renamed by hand")
            except ValueError:
                self.corrupt.append(set_aside(path).name)
                continue
            self._last_ms[job.kind] = max(self._last_ms[job.kind], job.epoch_ms)
            if job.job_id.isdigit():
                self._sequence = max(self._sequence, int(job.job_id))
            jobs.append(job)
        return jobs

    def _place(self, job: Job) -> Path:
        """Return where a job lies that does not run."""
        return self._failed_dir if job.has_failed else self._waiting_dir

    def _write(self, folder: Path, job: Job) -> None:
        """Write a job's file, in a folder that somebody may have removed meanwhile."""
        create_folder(folder)
        replace_json(folder / job.name, encode_job(job))

    def _move(self, name: str, source: Path, target: Path) -> None:
        create_folder(target)
        with refused(f"cannot move the job {name} to {target.name}/", "check the disk"):
            (source / name).rename(target / name)


def _order(job: Job) -> tuple[int, int, str]:
    return queue_order(job.name)
