"""The ports Engine and Store over a database that any number of replicas share.

Each replica has a folder of its own for what stays files; runs write their folders there first.
"""

from __future__ import annotations

import os
import tempfile
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Condition
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import create_folder, probe_folder
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import HEAD
from bot.adapters.storage.files.retention import UNFINISHED, last_touched
from bot.adapters.storage.files.spool_queue import new_job
from bot.adapters.storage.postgres.database import LOCK, Database
from bot.adapters.storage.postgres.postgres_documents import (
    DocumentNotes,
    PostgresDocuments,
    PostgresJournal,
    as_json,
    names_of,
)
from bot.adapters.storage.postgres.postgres_leases import PostgresLeases, PostgresPace, PostgresReplicas
from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue, lock_of, values_of
from bot.config.home import DEFAULT_TEAM
from bot.errors import ConfigError, StoreError, refused
from bot.ports import Clock, JobCounts
from bot.ports.collections import CLASSIFIED, DECISIONS, EVENTS, THREADS
from bot.ports.storage import SortedMessage, Taken

_TAKE: Final = "SELECT triage_take(%s, %s, %s::json, %s, %s, %s::json, %s, %s, %s, %s, %s, %s, %s::jsonb)"
_TABLES: Final = (
    "triage_documents, triage_archive, triage_damaged, triage_journals, triage_records, triage_identities, "
    "triage_run_folders, triage_run_files, procrastinate_jobs"
)
"""What moves; the other tables tell of living processes, or of the tables themselves."""


class PostgresDecisions:
    """The decisions of one namespace."""

    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there, also one of another replica at this moment."""
        if any(mark in str(record.get("line")) for record in self._journal.records(containing=mark)):
            return
        one_line = " ".join(line.split()).encode("utf-8", "replace").decode()
        self._journal.append_once({"line": one_line}, [("mark", mark)])

    def restore(self, text: str) -> None:
        """Write the whole into an empty log."""
        lines = [line.strip().removeprefix("- ") for line in text.removeprefix(HEAD).splitlines() if line.strip()]
        self._journal.restore((as_json({"line": line}).encode() for line in lines), lambda _: ())

    def text(self) -> str:
        """Return the lines as decisions.md has them."""
        lines = "".join(f"- {record.get('line')}\n" for record in self._journal.records())
        return f"{HEAD}{lines}" if lines else ""


class PostgresStore:
    """What one namespace holds; `files` is its data directory on this machine.

    `process` is the namespace of what all teams of a process have in common. With `is_reader` no file is written.
    """

    def __init__(
        self, database: Database, namespace: str, files: Path, *, process: str | None = None, is_reader: bool = False
    ) -> None:
        self.files = files
        self.documents = PostgresDocuments(database, namespace, process=process)
        self.machine = FileDocuments(files, is_reader=is_reader)
        self.notes = DocumentNotes(self.documents)
        self.runs = PostgresRunFolders(database, namespace, files)
        self._database, self._namespace = database, namespace
        self.shared = self
        self.decisions = PostgresDecisions(self.journal(DECISIONS))

    def take(self, message: SortedMessage, *, is_in_flight: bool) -> Taken:
        """Store a message, its class and its job in one statement, unless one of its names is there."""
        job: list[Any] = [lock_of(self._namespace, message.thread_id), None, None, None]
        if message.work is not None:
            job = values_of(self._namespace, new_job(message.work, at=message.at))
        stored = [EVENTS, as_json(message.event), names_of(message.names), CLASSIFIED, as_json(message.classified)]
        given = [self._namespace, *stored, is_in_flight, THREADS.name, message.thread_id, *job]
        [(taken,)] = self._database.write(_TAKE, given)
        return Taken(taken)

    def journal(self, name: str) -> PostgresJournal:
        """Return a journal by its name."""
        return PostgresJournal(self._database, self._namespace, name)

    def journals(self) -> list[str]:
        """Return the names of the journals that are there, but for the one that stands for decisions.md."""
        names = "SELECT name FROM triage_journals WHERE namespace = %s AND name <> %s ORDER BY name"
        return [name for (name,) in self._database.read(names, [self._namespace, DECISIONS])]

    def job_counts(self) -> JobCounts:
        """Return how many jobs wait, and how many were given up."""
        counts = "SELECT status::text, count(*) FROM procrastinate_jobs WHERE queue_name = %s GROUP BY status"
        found = dict(self._database.read(counts, [self._namespace]))
        return JobCounts(waiting=found.get("todo", 0), failed=found.get("failed", 0))


class PostgresEngine:
    """One database; `home` is the data directory of this process."""

    is_shared: Final = True

    def __init__(self, database: Database, home: Path) -> None:
        self.database, self._home = database, home
        self.pace, self.replicas = PostgresPace(database, DEFAULT_TEAM), PostgresReplicas(database)

    def store(self, home: Path, *, is_reader: bool = False) -> PostgresStore:
        """Return what a team keeps; of the machine's own documents, those of this one."""
        return PostgresStore(self.database, self.namespace(home), home, process=DEFAULT_TEAM, is_reader=is_reader)

    def jobs(self, home: Path, clock: Clock, *, changed: Condition) -> ProcrastinateQueue:
        """Return a team's queue."""
        return ProcrastinateQueue(self.database, self.namespace(home), clock, changed=changed)

    def leases(self, home: Path) -> PostgresLeases:
        """Return the leases of a team."""
        return PostgresLeases(self.database, self.namespace(home))

    def teams(self) -> list[str]:
        """Return the teams beside the one of old that have left something."""
        left = "SELECT namespace FROM triage_journals UNION SELECT namespace FROM triage_documents ORDER BY 1"
        return [name for (name,) in self.database.read(left) if name != DEFAULT_TEAM]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Enter in one transaction that keeps all other writers out, where no process has given a sign of life lately.

        Whoever starts gives one before it reads anything (`open_engine`): it is seen, or waits and finds what was
        written.

        Raises:
            ConfigError: a process works on the database.
        """
        with self.database.transaction() as connection:
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            connection.execute("LOCK TABLE triage_replicas IN EXCLUSIVE MODE")
            if alive := ", ".join(one.name for one in self.replicas.list() if one.is_alive):
                raise ConfigError(
                    f"triage runs on the database ({alive}); "
                    "stop it, and where it was killed, try again half a minute later"
                )
            connection.execute(f"LOCK TABLE {_TABLES} IN EXCLUSIVE MODE".encode())
            yield

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the database takes no writes, or the data directory, or less room is free there."""
        probe_folder(self._home, free_bytes)
        self.database.probe(free_bytes)

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    def namespace(self, home: Path) -> str:
        """Return the name of a team by its data directory; the one team of old has the process's own."""
        return DEFAULT_TEAM if home.resolve() == self._home.resolve() else home.name


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
