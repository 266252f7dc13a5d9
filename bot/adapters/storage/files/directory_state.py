"""A data directory as one side of a move: everything in it that a database keeps, too, row by row."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import list_names, read_json
from bot.adapters.storage.files.directory_writer import QUEUES, DirectoryWriter
from bot.adapters.storage.files.file_documents import FILES, OF_PROCESS, FileDocuments
from bot.adapters.storage.files.file_engine import FILE, HEAD, journal_path, note_files, read_note
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.retention import last_touched, run_folders
from bot.adapters.storage.files.spool_queue import job_files
from bot.adapters.storage.queued_jobs import decode_job
from bot.adapters.storage.state_rows import (
    CLOSED,
    JOBS,
    RUNS,
    SET_ASIDE,
    STAYS,
    ArchivedRow,
    DamagedRow,
    Row,
    RunChunk,
    StoredDocument,
    StoredJob,
    StoredRecord,
    chunks,
    damaged_text,
    parsed,
    run_files,
)
from bot.config.environment import TEAMS
from bot.config.team_settings import DEFAULT_TEAM
from bot.domain.jobs import queue_order
from bot.domain.notes import RETIRED, StoredNote
from bot.errors import StoreError, refused
from bot.ports.collections import DECISIONS, HANDED_OVER, NOTES, THREADS, inbox_of
from bot.ports.migrations import sealed
from bot.ports.storage import Document

_JOURNAL: Final = re.compile(r"(.+)\.ndjson(?:\.\d+)?")


class DirectoryState:
    """The state in the data directory of a process, that of its teams included."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def namespaces(self) -> Sequence[str]:
        """Return the process's own, which is also that of the team a link leads back from, then the other teams'."""
        teams = [path.name for path in sorted((self._home / TEAMS).glob("*")) if path.is_dir()]
        return [DEFAULT_TEAM, *(team for team in teams if team not in self._linked())]

    def count(self, namespace: str) -> Counter[str]:
        """Count documents and lines."""
        home, found = self.home_of(namespace), Counter[str]()
        with _readable(home):
            documents = FileDocuments(home, is_reader=True)
            for collection in _collections(namespace):
                found[collection] = len(documents.list(collection))
            found[CLOSED] = len(documents.archived(THREADS.name))
            found[HANDED_OVER] = int(namespace == DEFAULT_TEAM and bool(found[HANDED_OVER] or self._linked()))
            found[NOTES.name] = len(_notes(home))
            found[DECISIONS] = len(_decisions(home))
            found[SET_ASIDE] = len(self._set_aside(namespace))
            for name in _journals(home):
                found[name] = sum(1 for _ in NdjsonJournal(journal_path(home, name)).lines())
            found[RUNS] = sum(1 for folder in run_folders(home) for _ in run_files(folder))
            found.update(f"{JOBS} {one.state}" for one in _jobs(home))
        return +found

    def rows(self, namespace: str) -> Iterator[Row]:
        """Yield everything that moves; raises StoreError also for a job that cannot be read."""
        home = self.home_of(namespace)
        with _readable(home):
            documents = FileDocuments(home, is_reader=True)
            for collection in _collections(namespace):
                for one in documents.list(collection):
                    yield _stored(collection, one, documents.place(collection, one.id))
            for team in (
                self._linked() if namespace == DEFAULT_TEAM and not (home / FILES[HANDED_OVER]).exists() else ()
            ):
                text = json.dumps(sealed({"to": team}))
                yield StoredDocument(HANDED_OVER, HANDED_OVER, 1, text, _written_at(home / TEAMS))
            for doc_id, path, is_retired in _notes(home):
                note = StoredNote(whole=read_note(path), is_retired=is_retired)
                text = json.dumps(sealed(note.model_dump()), ensure_ascii=False)
                yield StoredDocument(NOTES.name, doc_id, 1, text, _written_at(path))
            for closed in reversed(documents.archived(THREADS.name)):
                if (ended := documents.read_archived(THREADS.name, closed)) is not None:
                    yield ArchivedRow(closed.at, _stored(THREADS.name, ended, str(home / "closed" / closed.name)))
            for path, collection, doc_id in self._set_aside(namespace):
                text = damaged_text(path.read_bytes())
                yield DamagedRow(StoredDocument(collection, doc_id, 1, text, _written_at(path)))
            yield from (StoredRecord(DECISIONS, json.dumps({"line": line})) for line in _decisions(home))
            for name in _journals(home):
                for line in NdjsonJournal(journal_path(home, name)).lines():
                    yield StoredRecord(name, _record_text(line, name))
            for folder in run_folders(home):
                place, touched = folder.relative_to(home).as_posix(), last_touched(folder)
                yield from (RunChunk(place, touched, *chunk) for chunk in chunks(folder))
            yield from _jobs(home)

    def write(self, namespace: str, rows: Iterable[Row]) -> None:
        """Write everything into a directory that holds nothing yet; it is on disk for good once somebody syncs."""
        home = self.home_of(namespace)
        with refused(f"cannot write {home}", "check the disk and the folder's owner"), DirectoryWriter(home) as writer:
            for row in rows:
                writer.write(row)

    def home_of(self, namespace: str) -> Path:
        """Return the directory of a namespace."""
        return self._home if namespace == DEFAULT_TEAM else self._home / TEAMS / namespace

    def _linked(self) -> list[str]:
        """Return the team that has what one team left in the process's own directory; at most one."""
        folder = self._home / TEAMS
        return [path.name for path in folder.glob("*") if path.is_dir() and path.resolve() == self._home.resolve()]

    def _set_aside(self, namespace: str) -> list[tuple[Path, str, str]]:
        """Return the path, collection and id of each document that was set aside, oldest first."""
        home, found = self.home_of(namespace), []
        for collection in _collections(namespace):
            name = re.compile(re.escape(FILES[collection]).replace(r"\*", "([^/]+?)") + r"(?:\.\d+)?\.corrupt")
            for path in home.glob(f"{FILES[collection]}.*"):
                if path.is_file() and (is_ours := name.fullmatch(path.relative_to(home).as_posix())):
                    found.append((path, collection, is_ours[1] if is_ours.groups() else collection))
        return sorted(found, key=lambda one: (one[0].stat().st_mtime_ns, one[0].name))


def _readable(home: Path) -> AbstractContextManager[None]:
    return refused(f"cannot read {home}", "run this as the user who runs triage")


def _collections(namespace: str) -> list[str]:
    """Return the collections that move."""
    return [name for name in FILES if name not in STAYS and (namespace == DEFAULT_TEAM or name not in OF_PROCESS)]


def _stored(collection: str, one: Document, place: str) -> StoredDocument:
    """Return a document as a row; of what holds none, the bytes that stand in its place."""
    raw = Path(place).read_bytes() if Path(place).is_file() else b""
    content = parsed(raw, place)
    if one.value is not None:
        return StoredDocument(
            collection, one.id, one.version, json.dumps(one.value, ensure_ascii=False), one.written_at
        )
    if content is not None and one.id in content:  # a file of several documents
        raw = json.dumps(content[one.id]).encode()
    return StoredDocument(collection, one.id, 1, damaged_text(raw), one.written_at)


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC)


def _notes(home: Path) -> list[tuple[str, Path, bool]]:
    """Return each note's id and file, and whether it is retired; a retired one whose name is in use gets another."""
    found: dict[str, tuple[Path, bool]] = {}
    memory = home / "memory"
    for folder, is_retired in ((memory, False), (memory / RETIRED, True)):
        for path, _, _ in sorted(note_files(folder)):
            name = path.relative_to(folder).as_posix()
            names = (name, *(f"{name.removesuffix('.md')}-{number}.md" for number in range(2, len(found) + 3)))
            found[next(free for free in names if free not in found)] = path, is_retired
    return [(name, path, is_retired) for name, (path, is_retired) in found.items()]


def _decisions(home: Path) -> list[str]:
    """Return the lines of decisions.md."""
    path = home / FILE
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return [line for line in lines if line and line not in HEAD]


def _journals(home: Path) -> list[str]:
    """Return every journal of which a file is there, rotated ones too."""
    inboxes = [path for path in (home / "sessions").glob("*") if path.is_dir()]
    found = {m[1] for name in list_names(home, is_home=True) if (m := _JOURNAL.fullmatch(name))}
    return sorted(found) + sorted(inbox_of(path.name) for path in inboxes if list(path.glob("inbox.ndjson*")))


def _record_text(line: bytes, journal: str) -> str:
    if parsed(line, f"the journal {journal}") is None:
        return damaged_text(line.rstrip(b"\n"))
    return line.decode("utf-8", "surrogatepass").strip()


def _jobs(home: Path) -> Iterator[StoredJob]:
    """Yield every job, those that run in their place among those that wait."""
    paths = [(path, state) for state, folder in QUEUES.items() for path in job_files(home / folder)]
    try:
        for path, state in sorted(paths, key=lambda one: queue_order(one[0].name)):
            job = decode_job(read_json(path), str(path))
            if job.name != path.name:
                raise ValueError("renamed by hand")
            yield StoredJob(state, job)
    except ValueError as error:
        raise StoreError(
            f"the jobs in {home / 'queue'} cannot all be read; start triage once, which puts lost messages into the "
            "queue again, stop it, and type this again"
        ) from error
