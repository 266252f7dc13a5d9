"""Waiting work as files: queue/ waits, queue/running/ is claimed, queue/failed/ is given up.

A claim is a rename, so a job is in exactly one folder whatever happens. What a crash left in running/ goes back to its
place at the next start; that counts as a death and not as an attempt, and a job that the process died of again and
again runs alone, and then no more. One process owns the spool (see bot/adapters/storage/files/file_leases.py).
"""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.atomic_write import (
    create_folder,
    list_files,
    make_folder,
    read_json,
    remove_file,
    replace_json,
    set_aside,
)
from bot.adapters.storage.queued_jobs import QueuedJobs, decode_job, encode_job
from bot.domain.jobs import Job, JobKind, queue_order
from bot.errors import StoreError, refused
from bot.ports import Clock

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
