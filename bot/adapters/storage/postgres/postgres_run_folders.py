"""Port RunFolders over tables: a folder is written on one machine, and stored in chunks for all others to read.

state_rows.py says what is stored of a folder. One that is read is brought to this machine, where it has the age it had
on its own.
"""

from __future__ import annotations

import os
import tempfile
import threading
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import create_folder
from bot.adapters.storage.files.retention import UNFINISHED, last_touched
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.state_rows import chunks
from bot.errors import StoreError, refusal, refused

MAX_FOUND: Final = 1_000
_SAME: Final = timedelta(milliseconds=10)
"""A file's time may lose its last digits on the way."""

_STORE: Final = """
    INSERT INTO triage_run_folders (namespace, folder, touched_at) VALUES (%s, %s, %s)
    ON CONFLICT (namespace, folder) DO UPDATE SET touched_at = excluded.touched_at
"""
_FILES: Final = """
    SELECT name, number, content FROM triage_run_files
    WHERE namespace = %s AND folder = %s ORDER BY name, number
"""
_LONG_RUNS: Final = """
    SELECT count(*) FROM triage_run_folders NATURAL JOIN triage_run_files
    WHERE namespace = %s AND folder LIKE 'escalations/%%' AND name = '.done' AND number = 0 AND touched_at >= %s
"""


class PostgresRunFolders:
    """The folders of one namespace; `home` is its data directory on this machine."""

    def __init__(self, database: Database, namespace: str, home: Path) -> None:
        self._database, self._namespace, self._home = database, namespace, home
        self._fetching = threading.Lock()

    def here(self, folder: str) -> Path:
        """Return where a run of this process writes."""
        return self._home / folder

    def publish(self, folder: str) -> None:
        """Store a folder in place of what is stored of it, unless that is as new."""
        path, stored = self._home / folder, self._touched_at(folder)
        touched = last_touched(path)
        if not path.is_dir() or (stored is not None and touched <= stored + _SAME):
            return
        place = [self._namespace, folder]
        with refused(f"cannot read {path}", "check the folder's owner"), self._database.transaction() as connection:
            connection.execute(_STORE, [*place, touched])
            connection.execute("DELETE FROM triage_run_files WHERE namespace = %s AND folder = %s", place)
            for name, number, content in chunks(path):
                connection.execute(
                    "INSERT INTO triage_run_files (namespace, folder, name, number, content) "
                    "VALUES (%s, %s, %s, %s, %s)",
                    [*place, name, number, content],
                )

    def fetch(self, folder: str) -> Path:
        """Bring a folder here unless it is here as new, and return where it lies."""
        path, stored = self._home / folder, self._touched_at(folder)
        with self._fetching:
            if stored is None or (path.is_dir() and last_touched(path) >= stored - _SAME):
                return path
            create_folder(path.parent)
            try:
                with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as beside:
                    fresh = self._write(folder, Path(beside, "fresh"), stored)
                    if path.exists():
                        path.rename(Path(beside, "older"))
                    fresh.rename(path)
            except zlib.error as error:
                raise StoreError(f"what the database holds of {folder} is damaged; delete its rows") from error
            except OSError as error:
                raise refusal(f"cannot write {path}", error, "check the disk and the folder's owner") from error
        return path

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then, as far as their folders are stored."""
        [(count,)] = self._database.read(_LONG_RUNS, [self._namespace, moment])
        return int(count)

    def published_before(self, moment: datetime) -> Sequence[str]:
        """Return MAX_FOUND folders at most that were last written to before then, the oldest first."""
        rows = self._database.read(
            "SELECT folder FROM triage_run_folders WHERE namespace = %s AND touched_at < %s "
            "ORDER BY touched_at LIMIT %s",
            [self._namespace, moment, MAX_FOUND],
        )
        return [folder for (folder,) in rows]

    def withdraw(self, folders: Sequence[str]) -> None:
        """Delete what is stored of folders."""
        self._database.write(
            "DELETE FROM triage_run_folders WHERE namespace = %s AND folder = ANY(%s)",
            [self._namespace, list(folders)],
        )

    def folders(self) -> list[str]:
        """Return every folder that is stored, in order."""
        rows = self._database.read(
            "SELECT folder FROM triage_run_folders WHERE namespace = %s ORDER BY folder", [self._namespace]
        )
        return [folder for (folder,) in rows]

    def _touched_at(self, folder: str) -> datetime | None:
        rows = self._database.read(
            "SELECT touched_at FROM triage_run_folders WHERE namespace = %s AND folder = %s",
            [self._namespace, folder],
        )
        return rows[0][0].astimezone(UTC) if rows else None

    def _write(self, folder: str, to: Path, touched: datetime) -> Path:
        """Write the files of a folder, which are as old as they were; a chunk at a time is in memory."""
        to.mkdir()
        with self._database.reading() as connection, connection.cursor() as cursor:
            for name, number, content in cursor.stream(_FILES, [self._namespace, folder]):
                path = to / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("ab" if number else "wb") as file:
                    file.write(zlib.decompress(content))
        for one in (*to.rglob("*"), to):
            os.utime(one, (touched.timestamp(), touched.timestamp()))
        return to
