"""The ports Engine and Store over the data directories of one machine; one process at a time works on them.

decisions.md only grows; the bot and the terminal both append to it, under one lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition
from typing import Final

from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.json_files import list_names
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.note_files import NoteFiles
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.config.environment import TEAMS
from bot.errors import refusal, refused
from bot.ports import Clock, JobCounts
from bot.ports.collections import DECISIONS, inbox_of

FILE: Final = "decisions.md"
HEAD: Final = "# Decisions\n\nOne line for each, oldest first; nothing here is ever changed.\n\n"


class DecisionLogFile:
    """The decisions of one data directory."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def text(self) -> str:
        """Return what stands there, whoever wrote it."""
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise refusal(f"cannot read {self._path}", error, "check the file's owner") from error

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; returns once it is on disk."""
        at_once, advice = FileLeases(self._path.parent).hold(DECISIONS), "check the disk and the file's owner"
        with refused(f"cannot write {self._path}", advice), at_once, self._path.open("a+b") as file:
            file.seek(0)
            before = file.read().decode("utf-8", "replace")
            if any(mark in other for other in before.splitlines()):
                return
            torn = "\n" if before and not before.endswith("\n") else ""
            file.write(f"{'' if before else HEAD}{torn}- {' '.join(line.split())}\n".encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())


class FileRunFolders:
    """The folders below one data directory."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def here(self, folder: str) -> Path:
        """Return where a folder lies."""
        return self._home / folder

    def publish(self, folder: str) -> None:
        """Do nothing: it can be read already."""

    def fetch(self, folder: str) -> Path:
        """Return where a folder lies."""
        return self._home / folder

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then."""
        return sum(_changed_at(path) >= moment for path in (self._home / "escalations").glob("*/.done"))

    def published_before(self, moment: datetime) -> Sequence[str]:  # noqa: ARG002 - the port's
        """Return nothing: nothing is kept elsewhere."""
        return ()

    def withdraw(self, folders: Sequence[str]) -> None:
        """Do nothing: nothing is kept elsewhere."""


def _changed_at(path: Path) -> datetime:
    with refused(f"cannot read {path}", "run this as the user who runs triage"):
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)


_INBOX: Final = inbox_of("")


class FileStore:
    """What one data directory holds."""

    shared: Final = None

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        """With `is_reader` the directory is left as it is, whoever else writes there.

        Raises:
            StoreError: as a reader, where the directory cannot be read; one that is not there is empty.
        """
        if is_reader:
            list_names(home)
        self.files = home
        self.documents = self.machine = FileDocuments(home, is_reader=is_reader)
        self.notes, self.decisions = NoteFiles(home / "memory"), DecisionLogFile(home)
        self.runs = FileRunFolders(home)
        self._lock = threading.Lock()
        self._journals: dict[str, NdjsonJournal] = {}

    def journal(self, name: str) -> NdjsonJournal:
        """Return `<name>.ndjson`, or a session's inbox.ndjson; always the same one, so that its appends do not mix."""
        with self._lock:
            return self._journals.setdefault(name, NdjsonJournal(journal_path(self.files, name)))

    def job_counts(self) -> JobCounts:
        """Return how many jobs there are; raises StoreError where the queue cannot be read."""
        waiting, failed = (
            sum("_" in name and name.endswith(".json") for name in list_names(self.files / folder))
            for folder in ("queue", "queue/failed")
        )
        return JobCounts(waiting=waiting, failed=failed)


def journal_path(home: Path, name: str) -> Path:
    """Return the live file of a journal."""
    path = f"sessions/{name.removeprefix(_INBOX)}/inbox" if name.startswith(_INBOX) else name
    return home / f"{path}.ndjson"


class FileEngine:
    """The files of a process's data directory, and of its teams' inside."""

    is_shared: Final = False
    pace: Final = None
    replicas: Final = None

    def __init__(self, home: Path) -> None:
        self._home = home

    def store(self, home: Path, *, is_reader: bool = False) -> FileStore:
        """Return what a data directory holds."""
        return FileStore(home, is_reader=is_reader)

    def jobs(self, home: Path, clock: Clock, *, max_running: int, changed: Condition) -> SpoolQueue:
        """Return the queue of a data directory."""
        return SpoolQueue(home / "queue", clock, max_running=max_running, changed=changed)

    def leases(self, home: Path) -> FileLeases:
        """Return the leases of a data directory."""
        return FileLeases(home)

    def teams(self) -> list[str]:
        """Return the teams that have a data directory in the process's own."""
        folder = self._home / TEAMS
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the process's data directory takes no writes, or less room is free."""
        probe_folder(self._home, free_bytes)

    def close(self) -> None:
        """Nothing is open."""
