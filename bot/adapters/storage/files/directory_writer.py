"""Writes what another engine kept into a data directory that holds nothing yet, without a sync for each file."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

from bot.adapters.storage.files.atomic_write import create_folder, free_path
from bot.adapters.storage.files.file_archive import _AT as ARCHIVED_AT
from bot.adapters.storage.files.file_documents import FILES
from bot.adapters.storage.files.file_engine import FILE, HEAD, journal_path
from bot.adapters.storage.queued_jobs import encode_job
from bot.adapters.storage.state_rows import (
    ArchivedRow,
    DamagedRow,
    JobState,
    Row,
    RunChunk,
    StoredDocument,
    StoredJob,
    StoredRecord,
    damaged_bytes,
)
from bot.config.environment import TEAMS
from bot.domain.jobs import Job, queue_order
from bot.domain.notes import RETIRED, check_note_path
from bot.ports.collections import DECISIONS, HANDED_OVER, NOTES

QUEUES: Final[Mapping[JobState, str]] = {
    JobState.WAITING: "queue",
    JobState.RUNNING: "queue/running",
    JobState.FAILED: "queue/failed",
}
"""Where the jobs of each state lie."""


class DirectoryWriter:
    """Writes rows; what is known only at the end is written when it is left. Raises OSError and StoreError."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folders: set[Path] = set()
        self._overrides: dict[str, Any] = {}
        self._journal: tuple[str, BinaryIO] | None = None
        self._last_job: Job | None = None

    def __enter__(self) -> DirectoryWriter:
        return self

    def __exit__(self, failed: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._journal is not None:
            self._journal[1].close()
        if self._overrides and failed is None:
            self._write(self._home / FILES["overrides"], _lines(self._overrides))

    def write(self, row: Row) -> None:
        """Write one row."""
        match row:
            case StoredRecord():
                self._append(row)
            case StoredJob():
                self._put(row)
            case RunChunk():
                self._put_chunk(row)
            case ArchivedRow(archived_for, document):
                at = archived_for.astimezone(UTC)
                stem = self._home / "closed" / f"{at:%Y-%m}" / f"{document.id}.{at:{ARCHIVED_AT}}"
                self._write(free_path(stem, ".json"), _content(document), document.written_at)
            case DamagedRow(document):
                self._write(free_path(self._path(document), ".corrupt"), _content(document), document.written_at)
            case _ if row.collection == NOTES.name:
                note = json.loads(row.text)
                folder = f"memory/{RETIRED}" if note.get("is_retired") else "memory"
                path = self._home / folder / check_note_path(row.id)
                self._write(path, str(note.get("whole", "")).encode("utf-8", "replace"), row.written_at)
            case _ if row.collection == "overrides" and row.id != "overrides":
                self._overrides[row.id] = json.loads(_content(row))
            case _:
                self._write(self._path(row), b"" if row.collection == "wakes" else _content(row), row.written_at)
                if row.collection == HANDED_OVER and (team := json.loads(row.text).get("to")):
                    self._made(self._home / TEAMS / team).symlink_to("..", target_is_directory=True)

    def _append(self, row: StoredRecord) -> None:
        if self._journal is None or self._journal[0] != row.journal:
            if self._journal is not None:
                self._journal[1].close()
            path = self._home / FILE if row.journal == DECISIONS else journal_path(self._home, row.journal)
            self._journal = row.journal, self._made(path).open("ab")
            self._journal[1].write(HEAD.encode() if row.journal == DECISIONS else b"")
        raw = damaged_bytes(row.text)
        line = raw if raw is not None else row.text.replace("\n", " ").encode("utf-8", "surrogatepass")
        if row.journal == DECISIONS:
            line = f"- {json.loads(row.text).get('line')}".encode("utf-8", "replace")
        self._journal[1].write(line + b"\n")

    def _put_chunk(self, row: RunChunk) -> None:
        """Append a chunk to a file; the folder and its files are then as old as the folder was."""
        path, touched = self._made(self._home / row.folder / row.name), row.touched_at.timestamp()
        with path.open("ab" if row.number else "wb") as file:
            file.write(zlib.decompress(row.content))
        for one in (path, path.parent, self._home / row.folder):
            os.utime(one, (touched, touched))

    def _put(self, row: StoredJob) -> None:
        """Write a job under a name that comes behind those before it: clocks of replicas may differ."""
        job, last = row.job, self._last_job
        if last is not None and job.kind is last.kind and queue_order(job.name) <= queue_order(last.name):
            job = job.model_copy(update={"epoch_ms": last.epoch_ms + 1})
        self._last_job = job
        self._write(self._home / QUEUES[row.state] / job.name, _lines(encode_job(job)))

    def _path(self, document: StoredDocument) -> Path:
        return self._home / FILES[document.collection].replace("*", document.id)

    def _write(self, path: Path, content: bytes, at: datetime | None = None) -> None:
        with self._made(path).open("wb") as file:
            file.write(content)
        if at is not None:
            os.utime(path, (at.timestamp(), at.timestamp()))

    def _made(self, path: Path) -> Path:
        if path.parent not in self._folders:
            create_folder(path.parent)
            self._folders.add(path.parent)
        return path


def _content(document: StoredDocument) -> bytes:
    raw = damaged_bytes(document.text)
    return raw if raw is not None else _lines({**json.loads(document.text), "version": document.version})


def _lines(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass") + b"\n"
