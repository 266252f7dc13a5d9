"""Open threads as documents on disk: TinyDB in front, one JSON file per thread behind.

TinyDB's own JSON storage rewrites one file in place, which a crash destroys (FACTS: TinyDB); this one writes only what
changed, each document atomically. What it hands out is parsed and shares nothing. One process owns the folder.
"""

from __future__ import annotations

import copy
import logging
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Document, Table

from bot.adapters.storage.files.atomic_write import (
    list_files,
    make_folder,
    read_json,
    remove_file,
    replace_json,
    set_aside,
)
from bot.adapters.storage.files.thread_archive import ThreadArchive
from bot.domain.threads import ThreadState, check_thread_id
from bot.errors import Conflict
from bot.ports import Damage

log = logging.getLogger(__name__)

_TABLE = "threads"
Documents = dict[str, dict[str, Any]]


class DocumentFolder(Storage):
    """A TinyDB storage of one table whose documents are files `<doc id>.json`; `corrupt` names those set aside."""

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder)
        self.corrupt: list[Path] = []
        self._documents: Documents = {}
        for path in list_files(folder, "*.json"):
            document = read_json(path)
            if document is None or not _is_thread(document, path.stem):
                self.corrupt.append(set_aside(path))
            else:
                self._documents[path.stem] = document

    def read(self) -> dict[str, Documents]:
        """Return every document, copied as deep as TinyDB changes them: one level.

        TinyDB reads all for one, so a full copy would let every look at a thread cost as much as all the open ones.
        """
        return {_TABLE: {doc_id: dict(document) for doc_id, document in self._documents.items()}}

    def write(self, data: dict[str, Documents]) -> None:
        """Write the documents that differ from what is on disk; raises StoreError when the disk refuses."""
        documents = data.get(_TABLE, {})
        for doc_id, document in documents.items():
            if self._documents.get(doc_id) != document:
                replace_json(self._folder / f"{doc_id}.json", dict(document))
                self._documents[doc_id] = copy.deepcopy(dict(document))
        for doc_id in self._documents.keys() - documents.keys():
            remove_file(self._folder / f"{doc_id}.json")
            del self._documents[doc_id]


class _Threads(Table):
    document_id_class = str  # type: ignore[assignment]  # documented hook; the stub says int
    default_query_cache_capacity = 0


class _Database(TinyDB):
    table_class = _Threads


class TinyDocuments:
    """Port ThreadStore over state/ and closed/; every change is a compare-and-set under one re-entrant lock."""

    def __init__(self, home: Path) -> None:
        self._state_dir = home / "state"
        self._archive = ThreadArchive(home / "closed")
        self._storage = DocumentFolder(self._state_dir)
        self._threads = _Database(storage=lambda: self._storage).table(_TABLE)
        self._lock = threading.RLock()

    @property
    def corrupt(self) -> list[Path]:
        """The files the start could not read and set aside."""
        return self._storage.corrupt

    def damage(self) -> list[Damage]:
        """Return every record that was set aside, at this start or an earlier one, oldest first."""
        found = [
            Damage(
                thread_id=path.name.partition(".json")[0],
                name=path.name,
                at=datetime.fromtimestamp(path.lstat().st_mtime, UTC),
                is_new=path in self._storage.corrupt,
            )
            for path in self._state_dir.glob("*.corrupt")
        ]
        return sorted(found, key=lambda damage: (damage.at, damage.name))

    def get(self, thread_id: str) -> ThreadState | None:
        """Return the thread, or None if it is not in state/."""
        with self._lock:
            found = self._threads.get(doc_id=thread_id)  # type: ignore[call-overload]
        return ThreadState.model_validate(dict(found)) if isinstance(found, Document) else None

    def put(self, state: ThreadState) -> ThreadState:
        """Store `state` if nobody changed the thread since it was read; returns it with the next version."""
        check_thread_id(state.thread_id)
        with self._lock:
            current = self.get(state.thread_id)
            if (current.version if current else 0) != state.version:
                raise Conflict(f"{state.thread_id} was changed meanwhile; look again")
            stored = state.evolve(version=state.version + 1)
            document = Document(stored.model_dump(mode="json"), doc_id=state.thread_id)  # type: ignore[arg-type]
            self._threads.upsert(document)
        _log_step(current, stored)
        return stored

    def threads(self) -> list[ThreadState]:
        """Return every thread in state/, oldest first."""
        with self._lock:
            states = [ThreadState.model_validate(dict(document)) for document in self._threads.all()]
        return sorted(states, key=lambda state: state.started_at)

    def last_closed(self, thread_id: str) -> ThreadState | None:
        """Return how the thread last ended, from the store or the newest file of the archive."""
        current = self.get(check_thread_id(thread_id))
        if current is not None and not current.is_open:
            return current
        with self._lock:
            paths = list(self._archive.newest_first(thread_id))
        for path in paths:
            document = read_json(path)
            if document is not None and _is_thread(document, thread_id):
                return ThreadState.model_validate(document)
        return None

    def archive(self, thread_id: str) -> None:
        """Move a closed thread's file to closed/<yyyy-mm>/<thread_id>.<closed_at>.json."""
        with self._lock:
            state = self.get(thread_id)
            if state is None or state.closed_at is None:
                return
            self._archive.take(self._state_dir / f"{thread_id}.json", thread_id, state.closed_at)
            self._threads.remove(doc_ids=[thread_id])  # type: ignore[list-item]


def _is_thread(document: dict[str, Any], stem: str) -> bool:
    try:
        return ThreadState.model_validate(document).thread_id == stem
    except ValidationError:
        return False


def _log_step(before: ThreadState | None, now: ThreadState) -> None:
    """Log that a thread was opened or took a step; what people or models wrote stays out of the log."""
    if before is None:
        says = "a question is taken up"
    elif len(now.status_history) > len(before.status_history):
        reason = now.resolution or now.pending_reason
        says = f"{before.status} → {now.status}" + (f" ({reason})" if reason else "")
    else:
        return
    log.info("%s", says, extra={"action": "thread_step", "thread_id": now.thread_id})
