"""Port RunFolders over tables: a folder is written on one machine, and stored for all others to read.

Files are stored in chunks, each compressed by itself: at most MAX_FILE_BYTES of each; links, pipes and half-written
files are left out. A folder that is read is brought to this machine, where it has the age it had on its own.
"""

from __future__ import annotations

import os
import tempfile
import threading
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import create_folder
from bot.adapters.storage.files.retention import UNFINISHED, last_touched
from bot.adapters.storage.postgres.database import Database
from bot.errors import StoreError, refused

CHUNK_BYTES: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 64 * CHUNK_BYTES
_SAME: Final = timedelta(milliseconds=10)
"""A file's time may lose its last digits on the way."""

_STORE: Final = "INSERT INTO triage_run_folders (namespace, folder, touched_at) VALUES (%s, %s, %s)"
_ENDED: Final = """
    SELECT count(*) FROM triage_run_folders JOIN triage_run_files USING (namespace, folder)
    WHERE namespace = %s AND folder LIKE 'escalations/%%' AND name = '.done' AND number = 0 AND touched_at >= %s
"""
_WITHDRAW: Final = """
    DELETE FROM triage_run_folders WHERE namespace = %s AND touched_at < %s
    AND NOT EXISTS (SELECT FROM unnest(%s::text[]) AS needed WHERE starts_with(split_part(folder, '/', 2), needed))
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
        insert = "INSERT INTO triage_run_files (namespace, folder, name, number, content) VALUES (%s, %s, %s, %s, %s)"
        with refused(f"cannot read {path}", "check the folder's owner"), self._database.transaction() as connection:
            connection.execute("DELETE FROM triage_run_folders WHERE namespace = %s AND folder = %s", place)
            connection.execute(_STORE, [*place, touched])
            connection.cursor().executemany(insert, ([*place, *chunk] for chunk in _chunks(path)))

    def fetch(self, folder: str) -> Path:
        """Bring a folder here unless it is here as new, and return where it lies."""
        path, stored = self._home / folder, self._touched_at(folder)
        with self._fetching, refused(f"cannot write {path}", "check the disk and the folder's owner"):
            if stored is None or (path.is_dir() and last_touched(path) >= stored - _SAME):
                return path
            create_folder(path.parent)
            with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as beside:
                fresh = Path(beside, "fresh")
                self._write(folder, fresh)
                for one in (*fresh.rglob("*"), fresh):
                    os.utime(one, (stored.timestamp(), stored.timestamp()))
                if path.exists():
                    path.rename(Path(beside, "older"))
                fresh.rename(path)
        return path

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then, as far as their folders are stored."""
        [(ended,)] = self._database.read(_ENDED, [self._namespace, moment])
        return int(ended)

    def withdraw(self, before: datetime, needed: Sequence[str]) -> None:
        """Delete what is stored of folders that were last written to before then, but for those that are needed."""
        self._database.write(_WITHDRAW, [self._namespace, before, list(needed)])

    def folders(self) -> Sequence[str]:
        """Return every folder that is stored, in order."""
        query = "SELECT folder FROM triage_run_folders WHERE namespace = %s ORDER BY folder"
        return [folder for (folder,) in self._database.read(query, [self._namespace])]

    def _touched_at(self, folder: str) -> datetime | None:
        query = "SELECT touched_at FROM triage_run_folders WHERE namespace = %s AND folder = %s"
        rows = self._database.read(query, [self._namespace, folder])
        return rows[0][0].astimezone(UTC) if rows else None

    def _write(self, folder: str, to: Path) -> None:
        """Write the files of a folder; a chunk at a time is in memory."""
        to.mkdir()
        query = "SELECT name, content FROM triage_run_files WHERE namespace = %s AND folder = %s ORDER BY name, number"
        with self._database.reading() as connection, connection.cursor() as cursor:
            for name, content in cursor.stream(query, [self._namespace, folder]):
                path = to / name
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    with path.open("ab") as file:
                        file.write(zlib.decompress(content))
                except zlib.error as error:
                    raise StoreError(f"what the database holds of {folder} is damaged; delete its rows") from error


def _chunks(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield the files of a folder: the name below it, the chunk's number, its bytes; raises OSError."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.name.startswith(".tmp-"):
            continue
        with path.open("rb") as file:
            for number in range(MAX_FILE_BYTES // CHUNK_BYTES):
                content = file.read(CHUNK_BYTES)
                if content or not number:  # an empty file is there, too
                    yield path.relative_to(folder).as_posix(), number, zlib.compress(content)
