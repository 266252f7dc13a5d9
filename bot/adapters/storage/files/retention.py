"""Removes old records of runs, so that years of work fit a disk: whole folders of runs/ and escalations/.

What belongs to an open thread stays however old; journals, closed threads and memory are not touched. A folder is
renamed before it is emptied, so a crash leaves none that looks whole. Links are not followed.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from bot.domain.threads import ThreadState
from bot.errors import StoreError
from bot.ports import Clock, RunFolders

log = logging.getLogger(__name__)


FOLDERS: Final = ("runs", "escalations")
LOOKS_PER_TICK: Final = 100
"""So many folders are looked at, and at most removed, in one tick."""

REST: Final = timedelta(hours=6)
"""Between one walk over all folders and the next."""

_DOOMED: Final = ".old-"
"""How a folder is called that is being removed, also where a crash came between."""

UNFINISHED: Final = ".new-"
"""How a folder is called until it is whole."""


class RunRetention:
    """Removes what is older than `keep`, here and what is published; a little at every tick. None keeps everything.

    What a run left that ended without a word (a crash, a long run) is published, so that every replica reads it.
    """

    def __init__(
        self,
        home: Path,
        keep: timedelta | None,
        clock: Clock,
        open_threads: Callable[[], Iterable[ThreadState]],
        folders: RunFolders,
    ) -> None:
        self._home, self._keep, self._clock, self._open_threads = home, keep, clock, open_threads
        self._folders = folders
        self._walk: Iterator[Path] | None = None
        self._rested_since: datetime | None = None

    def tick(self) -> None:
        """Look at a few folders, the newest first; what the disk refuses is left for another walk."""
        now = self._clock.now()
        if self._rested_since is not None and timedelta() <= now - self._rested_since < REST:
            return
        self._walk = self._walk or _records(self._home)
        met = list(islice(self._walk, LOOKS_PER_TICK))
        if not met:
            self._walk, self._rested_since = None, now
        self._publish(path for path in met if not path.name.startswith("."))
        if self._keep is not None:
            before = now - min(self._keep, now - datetime.min.replace(tzinfo=UTC))
            old = [path for path in met if last_touched(path) < before or path.name.startswith(_DOOMED)]
            if old or not met:
                self._remove(old, before)

    def _publish(self, met: Iterable[Path]) -> None:
        for path in met:
            try:
                self._folders.publish(path.relative_to(self._home).as_posix())
            except StoreError:
                log.warning("a record is not published: %s", path, extra={"action": "run_unpublished"}, exc_info=True)

    def _remove(self, old: Sequence[Path], before: datetime) -> None:
        needed = tuple(state.thread_id for state in self._open_threads())
        gone = sum(_removed(path) for path in old if not path.name.startswith(needed))
        self._folders.withdraw(before, needed)
        if gone:
            log.info("%d old records of runs removed", gone, extra={"action": "old_runs_removed"})


def _records(home: Path) -> Iterator[Path]:
    """Yield the folders of all runs, the newest first; a link is none, whether it stands for one or for all."""
    for parent in (home / name for name in FOLDERS):
        if parent.is_symlink() or not parent.is_dir():
            continue
        with os.scandir(parent) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from (Path(entry.path) for entry in sorted(found, key=_changed_at, reverse=True))


def _changed_at(entry: os.DirEntry[str]) -> float:
    """Return when a file was last added to a folder; 0 where it is gone meanwhile."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def last_touched(path: Path) -> datetime:
    """Return when a folder or a file in it was changed last; the far future where that cannot be told."""
    try:
        times = [path.lstat().st_mtime, *(entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(path))]
        return datetime.fromtimestamp(max(times), UTC)
    except (OSError, OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC)


def _removed(path: Path) -> bool:
    doomed = path if path.name.startswith(_DOOMED) else path.with_name(f"{_DOOMED}{path.name}"[:250])
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError:
        log.warning("an old record cannot be removed: %s", path, extra={"action": "old_run_stays"}, exc_info=True)
        return False
    return True


def run_folders(home: Path) -> list[Path]:
    """Return the folders that runs left, in order, without what is being written or removed."""
    return sorted(path for path in _records(home) if not path.name.startswith("."))
