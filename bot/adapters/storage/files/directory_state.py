"""A data directory as one side of a move: everything in it that a database keeps, too, row by row."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import read_json
from bot.adapters.storage.files.directory_writer import QUEUES, DirectoryWriter
from bot.adapters.storage.files.file_documents import FILES, OF_PROCESS
from bot.adapters.storage.files.file_engine import FILE, HEAD, journal_path
from bot.adapters.storage.files.json_files import EmptyFiles, JsonFiles, OneJsonFile, file_stamp, list_names
from bot.adapters.storage.files.ndjson_journal import journal_lines
from bot.adapters.storage.files.note_files import note_files, read_note
from bot.adapters.storage.files.retention import last_touched, run_folders
from bot.adapters.storage.files.spool_queue import job_files
from bot.adapters.storage.files.tinydb_documents import archive_order, archived_document
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
from bot.domain.memory.notes import RETIRED, StoredNote
from bot.errors import StoreError, refused
from bot.ports.collections import DECISIONS, HANDED_OVER, NOTES, THREADS, inbox_of
from bot.ports.migrations import sealed
from bot.ports.storage import ArchivedDocument

_KEPT_AS: Final[Mapping[str, type[JsonFiles]]] = {"overrides": OneJsonFile, "wakes": EmptyFiles}
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
        """Count names and lines; of all there is only the jobs are read."""
        home, found = self.home_of(namespace), Counter[str]()
        with _readable(home):
            for collection, shelf in self._shelves(namespace):
                found[collection] = sum(file_stamp(shelf.found_at(doc_id)) is not None for doc_id in shelf.ids())
            found[CLOSED] = sum(len(_month(home, month)) for month in _months(home))
            found[HANDED_OVER] = int(namespace == DEFAULT_TEAM and bool(found[HANDED_OVER] or self._linked()))
            found[NOTES.name] = len(_notes(home))
            found[DECISIONS] = len(_decisions(home))
            found[SET_ASIDE] = len(self._set_aside(namespace))
            for name in _journals(home):
                found[name] = sum(bool(line.strip()) for line in journal_lines(journal_path(home, name)))
            found[RUNS] = sum(1 for folder in run_folders(home) for _ in run_files(folder))
            found.update(f"{JOBS} {one.state}" for one in _jobs(home))
        return +found

    def rows(self, namespace: str) -> Iterator[Row]:
        """Yield everything that moves; raises StoreError also for a job that cannot be read."""
        home = self.home_of(namespace)
        with _readable(home):
            for collection, shelf in self._shelves(namespace):
                yield from _documents(collection, shelf)
            for team in (
                self._linked() if namespace == DEFAULT_TEAM and not (home / FILES[HANDED_OVER]).exists() else ()
            ):
                text = json.dumps(sealed({"to": team}))
                yield StoredDocument(HANDED_OVER, HANDED_OVER, 1, text, _written_at(home / TEAMS))
            for doc_id, path, is_retired in _notes(home):
                note = StoredNote(whole=read_note(path), is_retired=is_retired)
                text = json.dumps(sealed(note.model_dump()), ensure_ascii=False)
                yield StoredDocument(NOTES.name, doc_id, 1, text, _written_at(path))
            for month in _months(home):
                for one in _month(home, month):
                    path = home / "closed" / one.name
                    yield ArchivedRow(one.at, _document(THREADS.name, one.doc_id, path))
            for path, collection, doc_id in self._set_aside(namespace):
                text = damaged_text(path.read_bytes())
                yield DamagedRow(StoredDocument(collection, doc_id, 1, text, _written_at(path)))
            yield from (StoredRecord(DECISIONS, json.dumps({"line": line})) for line in _decisions(home))
            for name in _journals(home):
                for line in journal_lines(journal_path(home, name)):
                    if line.strip():
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

    def _shelves(self, namespace: str) -> Iterator[tuple[str, JsonFiles]]:
        """Yield each collection that moves, and how it lies here."""
        for collection, pattern in FILES.items():
            if collection not in STAYS and (namespace == DEFAULT_TEAM or collection not in OF_PROCESS):
                kept_as = _KEPT_AS.get(collection, JsonFiles)
                yield collection, kept_as(self.home_of(namespace), collection, pattern)

    def _set_aside(self, namespace: str) -> list[tuple[Path, str, str]]:
        """Return the path, collection and id of each document that was set aside, oldest first."""
        home, found = self.home_of(namespace), []
        for collection, _ in self._shelves(namespace):
            name = re.compile(re.escape(FILES[collection]).replace(r"\*", "([^/]+?)") + r"(?:\.\d+)?\.corrupt")
            for path in home.glob(f"{FILES[collection]}.*"):
                if path.is_file() and (is_ours := name.fullmatch(path.relative_to(home).as_posix())):
                    found.append((path, collection, is_ours[1] if is_ours.groups() else collection))
        return sorted(found, key=lambda one: (one[0].stat().st_mtime_ns, one[0].name))


def _readable(home: Path) -> AbstractContextManager[None]:
    return refused(f"cannot read {home}", "run this as the user who runs triage")


def _documents(collection: str, shelf: JsonFiles) -> Iterator[StoredDocument]:
    for doc_id in shelf.ids():
        path = shelf.found_at(doc_id)
        if file_stamp(path) is None:
            continue
        if isinstance(shelf, EmptyFiles):
            yield StoredDocument(collection, doc_id, 1, "{}", _written_at(path))
        elif isinstance(shelf, OneJsonFile) and (whole := read_json(path)) is not None:
            yield _stored(collection, doc_id, whole[doc_id], json.dumps(whole[doc_id]).encode(), _written_at(path))
        else:
            yield _document(collection, doc_id, path)


def _document(collection: str, doc_id: str, path: Path) -> StoredDocument:
    """Return what a file holds; something that is no file holds nothing."""
    raw = path.read_bytes() if path.is_file() else b""
    return _stored(collection, doc_id, parsed(raw, str(path)), raw, _written_at(path))


def _stored(collection: str, doc_id: str, content: Any, raw: bytes, at: datetime) -> StoredDocument:
    version = content.get("version", 1) if isinstance(content, dict) else None
    if not isinstance(version, int):
        return StoredDocument(collection, doc_id, 1, damaged_text(raw), at)
    value = {key: held for key, held in content.items() if key != "version"}
    return StoredDocument(collection, doc_id, version, json.dumps(value, ensure_ascii=False), at)


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


def _months(home: Path) -> list[str]:
    return sorted(name for name in list_names(home / "closed") if (home / "closed" / name).is_dir())


def _month(home: Path, month: str) -> list[ArchivedDocument]:
    """Return what was archived in a month, oldest first."""
    names = (f"{month}/{name}" for name in list_names(home / "closed" / month))
    return sorted(filter(None, map(archived_document, names)), key=archive_order)


def _journals(home: Path) -> list[str]:
    """Return every journal of which a file is there, rotated ones too."""
    inboxes = [path for path in (home / "sessions").glob("*") if path.is_dir()]
    found = {m[1] for name in list_names(home) if (m := _JOURNAL.fullmatch(name))}
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
