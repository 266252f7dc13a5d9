"""Waiting work as files: queue/ waits, queue/running/ is claimed, queue/failed/ is given up.

A claim is a rename, so a job is in exactly one folder whatever happens. What a crash left in running/ goes back to its
place at the next start; that counts as a death and not as an attempt, and a job that the process died of again and
again runs alone, and then no more. One process owns the spool (see bot/adapters/storage/files/file_leases.py).
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
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
from bot.adapters.storage.queued_jobs import ClaimedJobs, decode_job, encode_job, next_job
from bot.domain.jobs import Job, JobKind, Work, queue_order
from bot.errors import StoreError, refused
from bot.ports import Clock, any_job

log = logging.getLogger(__name__)

_USER_JOB = re.compile(rf"{JobKind.USER}_(\d{{1,15}})_")


def job_files(folder: Path) -> list[Path]:
    """Return the files of the jobs in a folder."""
    return list_files(folder, "*_*_*.json")


class SpoolQueue(ClaimedJobs[Job]):
    """Port JobQueue over a folder; `corrupt` names what the start found beyond repair."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        max_running: int = 2,
        changed: threading.Condition | None = None,
    ) -> None:
        super().__init__(clock, max_running=max_running, changed=changed)
        self._waiting_dir = make_folder(folder)
        self._running_dir = make_folder(folder / "running")
        self._failed_dir = make_folder(folder / "failed")
        self._last_ms = 0
        self._sequence = 0
        self._recover()
        self._waiting = {job.name: job for job in self._load(self._waiting_dir)}

    def put(self, work: Work) -> Job:
        """Store a job and tell of it; raises StoreError when the disk refuses."""
        with self._changed:
            number = self._sequence + 1
            self._last_ms = max(self._last_ms, int(self._clock.now().timestamp() * 1000))
            job_id = work.job_id or f"{number:06d}"
            job = Job(kind=work.kind, key=work.key, work=work, epoch_ms=self._last_ms, job_id=job_id)
            self._write(self._waiting_dir, job)
            self._sequence = number
            self._waiting[job.name] = job
            self._changed.notify()
            return job

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next wanted job the caps allow: at most `max_running`, one heartbeat, one per key."""
        with self._changed:
            self._settle()
            job = self._next(wanted)
            if job is None:
                return None
            claimed = job.model_copy(update={"attempts": job.attempts + 1})
            self._write(self._waiting_dir, claimed)
            self._move(job.name, self._waiting_dir, self._running_dir)
            del self._waiting[job.name]
            self._running[job.name] = claimed
            return claimed

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs."""
        with self._changed:
            return any(job.key == key for jobs in (self._waiting, self._running) for job in jobs.values())

    def unclaimed(self) -> list[Job]:
        """Return the jobs that nobody works on yet, in order."""
        with self._changed:
            return self._in_order()

    def failed(self) -> list[Job]:
        """Return the jobs that were given up, in order."""
        found = []
        for path in sorted(job_files(self._failed_dir), key=lambda path: queue_order(path.name)):
            with suppress(ValueError):
                found.append(decode_job(read_json(path), str(path)))
        return found

    def restore(self, job: Job) -> None:
        """Write a job of a move behind the others."""
        with self._changed:
            self._last_ms = max(self._last_ms + 1, job.epoch_ms)
            restored = job.model_copy(update={"epoch_ms": self._last_ms})
            self._write(self._failed_dir if job.has_failed else self._waiting_dir, restored)
            if not job.has_failed:
                self._waiting[restored.name] = restored

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Store what `convert` makes of each job's record; return how many were changed."""
        changed = 0
        for folder in (self._waiting_dir, self._running_dir, self._failed_dir):
            for path in job_files(folder):
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

    def _forget(self, claim: Job) -> None:
        remove_file(self._running_dir / claim.name)

    def _put_back(self, claim: Job, returned: Job) -> None:
        self._note(returned)
        self._move(claim.name, self._running_dir, self._failed_dir if returned.has_failed else self._waiting_dir)
        if not returned.has_failed:
            self._waiting[returned.name] = returned

    def _next(self, wanted: Callable[[Job], bool]) -> Job | None:
        return next_job(
            filter(wanted, self._in_order()),
            self._running.values(),
            max_running=self._max_running,
            put_off=self._put_off,
        )

    def _in_order(self) -> list[Job]:
        return sorted(self._waiting.values(), key=lambda job: queue_order(job.name))

    def _recover(self) -> None:
        left = self._load(self._running_dir)
        for job in (job.died(alone=len(left) == 1) for job in left):
            again = not job.has_failed
            if not again:
                self._given_up.append(job)
            self._write(self._waiting_dir if again else self._failed_dir, job)
            self._forget(job)  # last: a start that is killed here counts the same death again, from the same file

    def _load(self, folder: Path) -> list[Job]:
        jobs = []
        for path in job_files(folder):
            try:
                job = decode_job(read_json(path), str(path))
                if job.name != path.name:
                    raise ValueError("renamed by hand")
            except ValueError:
                self.corrupt.append(set_aside(path).name)
                continue
            self._last_ms = max(self._last_ms, job.epoch_ms)
            if job.job_id.isdigit():
                self._sequence = max(self._sequence, int(job.job_id))
            jobs.append(job)
        return jobs

    def _note(self, returned: Job) -> None:
        """Write why a job comes back; a full disk forgets that, for a lost place would block its key."""
        try:
            self._write(self._running_dir, returned)
        except StoreError as error:
            log.warning("a job's reason is not on disk: %s", error, extra={"action": "reason_lost"})

    def _write(self, folder: Path, job: Job) -> None:
        """Write a job's file, in a folder that somebody may have removed meanwhile."""
        create_folder(folder)
        replace_json(folder / job.name, encode_job(job))

    def _move(self, name: str, source: Path, target: Path) -> None:
        create_folder(target)
        with refused(f"cannot move the job {name} to {target.name}/", "check the disk"):
            (source / name).rename(target / name)
