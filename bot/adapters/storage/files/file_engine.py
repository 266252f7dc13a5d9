"""Ports Engine and Store over the data directories of one machine, for one bot process at a time.

decisions.md is append-only; the bot and the terminal append under one lock. A note in memory/ is written whole, never
replaces another and is never deleted: a retired one moves to memory/retired/, which no search reads. People may write
and change notes at any time.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, Final

from bot.adapters.storage.files.atomic_write import (
    create_file,
    list_names,
    make_folder,
    open_private,
    probe_folder,
    remove_file,
    replace_text,
    sync_folder,
)
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.retention import run_folders
from bot.config.home import TEAMS
from bot.domain.notes import RETIRED, KeptNote, check_note_path
from bot.errors import StoreError, refused
from bot.ports import Clock, JobCounts
from bot.ports.collections import DECISIONS, HOME, MOVED, SingleDocument, inbox_of

if TYPE_CHECKING:  # only the bot itself works on jobs
    from bot.adapters.storage.files.spool_queue import SpoolQueue

log = logging.getLogger(__name__)

MAX_NOTE_BYTES: Final = 1_000_000

_Stamp = tuple[Path, int, int]

FILE: Final = "decisions.md"
HEAD: Final = "# Decisions\n\nOne line for each, oldest first; nothing here is ever changed.\n\n"

_JOURNAL: Final = re.compile(r"(.+)\.ndjson(?:\.\d+)?")
_INBOX: Final = inbox_of("")


class NoteFiles:
    """The notes of one folder, read again when one of them changes; `folder` need not be there yet."""

    def __init__(self, memory: Path) -> None:
        self.folder = memory
        self._lock = threading.RLock()
        self._signature: list[_Stamp] | None = None
        self._notes: tuple[KeptNote, ...] = ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name."""
        found = sorted(note_files(self.folder))
        with self._lock:
            if found != self._signature:
                self._notes = tuple(note for path, _, _ in found if (note := _read(path, self.folder)) is not None)
                self._signature = found
            return self._notes

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref; None if it was, and nothing happens.

        Raises:
            StoreError: the disk refuses.
        """
        with self._lock:
            if any(os.path.lexists(self.folder / place) for place in (f"{name}.md", f"{RETIRED}/{name}.md")):
                return None
            with refused(f"cannot save the note {name}", "check the disk and the folder's owner"):
                make_folder(self.folder)
                return f"memory/{name}.md" if create_file(self.folder / f"{name}.md", text) else None

    def retire(self, ref: str) -> str | None:
        """Move a note to memory/retired/ and return its new ref; None if it is not there any more.

        Raises:
            StoreError: the disk refuses.
        """
        if ref not in {note.ref for note in self.all()}:
            return None
        path = self.folder / ref.removeprefix("memory/")
        with self._lock, refused(f"cannot retire {ref}", "check the disk and the folder's owner"):
            folder = self.folder / RETIRED
            folder.mkdir(exist_ok=True, mode=0o700)
            target = next(free for name in _names(path.stem) if not os.path.lexists(free := folder / name))
            path.rename(target)
            sync_folder(path.parent)
            sync_folder(folder)
        return f"memory/{RETIRED}/{target.name}"

    def put(self, ref: str, whole: str) -> None:
        """Write a note over what stands there; raises InputError for no ref and StoreError when the disk refuses."""
        path = self.folder / check_note_path(ref.removeprefix("memory/"))
        make_folder(path.parent)
        replace_text(path, whole)

    def stored(self) -> Iterator[tuple[str, str]]:
        """Yield the path below memory/ and the whole of every note, retired ones too; raises StoreError.

        A retired one whose name is in use again gets another: elsewhere a name is taken once. Raises StoreError also
        for a file that no search reads either.
        """
        read = {path for folder in ("", RETIRED) for path, _, _ in note_files(self.folder / folder)}
        for path in sorted(self.folder.rglob("*.md")):
            if path not in read and not path.name.startswith("."):
                limit = f"of at most {MAX_NOTE_BYTES:,} bytes"
                raise StoreError(
                    f"{path} is no plain file {limit}, so no search reads it; move it out of memory/ first"
                )
        with refused(f"cannot read {self.folder}", "run this as the user who runs triage"):
            taken: set[str] = set()
            for folder in ("", f"{RETIRED}/"):
                for path, _, _ in sorted(note_files(self.folder / folder)):
                    stem = path.relative_to(self.folder / folder).with_suffix("").as_posix()
                    taken.add(name := next(free for free in _names(stem) if free not in taken))
                    yield f"{folder}{name}", read_note(path)

    def remove(self, ref: str) -> None:
        """Delete a note; raises InputError for no ref and StoreError when the disk refuses."""
        remove_file(self.folder / check_note_path(ref.removeprefix("memory/")))


def _names(stem: str) -> Iterator[str]:
    yield f"{stem}.md"
    yield from (f"{stem}-{number}.md" for number in range(2, 100_000))


def note_files(memory: Path) -> Iterator[_Stamp]:
    """Yield the notes that are plain files below `memory`, and when they changed last.

    Links out of it are not followed, very large and half-written files not read; what goes meanwhile is passed over.
    """
    for path in memory.rglob("*.md"):
        if path.name.startswith(".") or RETIRED in path.relative_to(memory).parts[:-1]:
            continue
        try:
            stat = path.stat()
            is_ours = path.is_file() and path.resolve().is_relative_to(memory.resolve())
        except OSError:
            continue
        if is_ours and stat.st_size <= MAX_NOTE_BYTES:
            yield path, stat.st_mtime_ns, stat.st_size


def _read(path: Path, memory: Path) -> KeptNote | None:
    """Return a note; None where it went or cannot be read: the others are worth finding all the same."""
    try:
        whole = read_note(path)
    except OSError as error:
        log.warning("a note was not read: %s", error.strerror, extra={"action": "note_unread"})
        return None
    return KeptNote.read(f"memory/{path.relative_to(memory).as_posix()}", whole)


def read_note(path: Path) -> str:
    """Return the whole of a note; raises OSError."""
    return path.read_text(encoding="utf-8-sig", errors="replace")


class DecisionLogFile:
    """The decisions of one data directory."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def text(self) -> str:
        """Return what stands there, whoever wrote it."""
        with refused(f"cannot read {self._path}", "check the file's owner"), suppress(FileNotFoundError):
            return self._path.read_text(encoding="utf-8", errors="replace")
        return ""

    def restore(self, text: str) -> None:
        """Write the whole into an empty log."""
        replace_text(self._path, text)

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; returns once it is on disk."""
        at_once, advice = FileLeases(self._path.parent).hold(DECISIONS), "check the disk and the file's owner"
        with refused(f"cannot write {self._path}", advice), at_once, open_private(self._path, "a+b") as file:
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

    fetch = here

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then."""
        with refused(f"cannot read {self._home}", "run this as the user who runs triage"):
            ended = (self._home / "escalations").glob("*/.done")
            return sum(path.stat().st_mtime >= moment.timestamp() for path in ended)

    def withdraw(self, before: datetime, needed: Sequence[str]) -> None:
        """Do nothing: nothing is kept elsewhere."""

    def folders(self) -> list[str]:
        """Return every folder that a run left, in order."""
        with refused(f"cannot read {self._home}", "run this as the user who runs triage"):
            return [path.relative_to(self._home).as_posix() for path in run_folders(self._home)]


class FileStore:
    """What one data directory holds."""

    shared: Final = None

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        """With `is_reader` the directory is left as it is, whoever else writes there.

        Raises:
            StoreError: as a reader, where the directory cannot be read; one that is not there is empty.
        """
        if is_reader:
            list_names(home, is_home=True)
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

    def journals(self) -> list[str]:
        """Return the names of the journals of which a file is there, rotated ones too."""
        names, inboxes = list_names(self.files, is_home=True), (self.files / "sessions").glob("*/inbox.ndjson*")
        found = {m[1] for name in names if (m := _JOURNAL.fullmatch(name))}
        return sorted(found | {inbox_of(path.parent.name) for path in inboxes if _JOURNAL.fullmatch(path.name)})

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

    def jobs(self, home: Path, clock: Clock, *, changed: Condition) -> SpoolQueue:
        """Return the queue of a data directory."""
        from bot.adapters.storage.files.spool_queue import SpoolQueue

        return SpoolQueue(home / "queue", clock, changed=changed)

    def leases(self, home: Path) -> FileLeases:
        """Return the leases of a data directory."""
        return FileLeases(home)

    def teams(self) -> list[str]:
        """Return the teams that have a data directory in the process's own."""
        return sorted(path.name for path in (self._home / TEAMS).glob("*") if path.is_dir())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Enter with the lease of the process's data directory; when it is left all that was written is on disk.

        One that held nothing is marked until then, so that nobody works on half of it, and is emptied after an error.
        """
        lease = self.leases(self._home).take(HOME)
        mark = SingleDocument(FileDocuments(self._home), MOVED)
        is_new = [path.name for path in self._home.iterdir()] == ["lock"]
        try:
            if is_new:
                mark.update({"unfinished": True})
            yield
            os.sync()
            if is_new:
                mark.clear()
        except BaseException:
            for path in self._home.iterdir() if is_new else ():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            raise
        finally:
            lease.release()

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the process's data directory takes no writes, or less room is free."""
        probe_folder(self._home, free_bytes)

    def close(self) -> None:
        """Nothing is open."""
