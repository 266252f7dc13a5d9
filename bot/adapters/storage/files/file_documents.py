"""Port Documents over the files of one data directory: which collection is kept where, and in what form.

The bot and the terminal both write. A write compares the version, replaces the file as a whole and is alone while it
does so: each folder has a lease. A document carries its `version`; one of an earlier version of
triage, or written by hand, counts as version 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import create_folder, make_folder, set_aside
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.json_files import CompactJsonFiles, EmptyFiles, JsonFiles, OneJsonFile, file_stamp
from bot.adapters.storage.files.tinydb_documents import FileArchive, TinyFiles
from bot.config.environment import process_home
from bot.errors import Conflict, StoreError
from bot.ports.collections import CLONES, HANDED_OVER, HOMES, INDEX, PEOPLE, PRESENCE, ROLLUPS
from bot.ports.storage import ArchivedDocument, DamagedDocument, Document

FILES: Final[Mapping[str, str]] = {
    "threads": "state/*.json",
    "sessions": "sessions/*/heartbeat_state.json",
    "overrides": "overrides.json",
    "proposals": "proposals/*.json",
    "suggestions": "suggestions/*.json",
    "acknowledgements": "acknowledgements/*.json",
    "cards_shown": "cards/*.json",
    "fixes": "fixes/*.json",
    "auto_replies": "auto_replies/*.json",
    "feedback": "feedback/*.json",
    "autonomy": "autonomy.json",
    "calibration": "calibration.json",
    "wakes": "wakes/*",
    "pause": "paused.json",
    "presence": "slack/connection.json",
    "gaps": "slack/gaps.json",
    "briefs": "brief.json",
    "reviews": "review.json",
    "lesson_backlog": "lessons.json",
    "rechecks": "rechecks.json",
    "index": "index/progress.json",
    "clones": "codebases/*.json",
    "task_lists": "listed.json",
    "removed_checks": "removed.json",
    "people": "people.json",
    "handed_over": "handed_over.json",
    "homes": "homes.json",
    "rollups": "rollups/*.json",
    "moved": "moved.json",
}
"""Below the data directory; `*` stands for the document's id, and a path without one is a single document.

`overrides` is one file with every document by its id, and a wake is an empty file: what it says is its name.
"""

UNUSED: Final = frozenset({"proposals", "calibration", "reviews", "lesson_backlog", "rechecks"})
"""What features wrote that were removed: it is left where it is, and `triage migrate` carries it along."""

ALL_COLLECTIONS: Final = tuple(name for name in FILES if name != ROLLUPS and name not in UNUSED)
"""Every collection in use, but for `rollups`, which is a cache: what another version wrote is made anew."""

OF_PROCESS: Final = frozenset({PRESENCE, INDEX, CLONES, PEOPLE, HANDED_OVER, HOMES})
"""What all teams of a process have in common, and find in its own data directory."""


class FileDocuments:
    """The documents of one data directory; with `is_reader` nothing is written, set aside or created."""

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        self._home, self._is_reader, self._leases = home, is_reader, FileLeases(home)
        kinds = {
            "overrides": OneJsonFile,
            "wakes": EmptyFiles,
            "rollups": CompactJsonFiles,
            "threads": JsonFiles if is_reader else TinyFiles,
        }
        self._files: Mapping[str, JsonFiles] = {
            name: kinds.get(name, JsonFiles)(process_home(home) if name in OF_PROCESS else home, name, pattern)
            for name, pattern in FILES.items()
        }
        self._archive = {"threads": FileArchive(home / "closed")}
        self._swept: set[Path] = set()
        self._aside: set[Path] = set()

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None; raises StoreError when the disk refuses."""
        return self._files[collection].get(doc_id)

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document, by id; raises StoreError when the disk refuses."""
        files = self._files[collection]
        with files.lock:
            return files.all()

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        """Return the documents that hold this text in a field of their own, by id."""
        return [one for one in self.list(collection) if (one.value or {}).get(field) == value]

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`, 0 where there must be none."""
        with self._unchanged(collection, doc_id, version) as files:
            files.put(doc_id, {**value, "version": version + 1})

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        with self._unchanged(collection, doc_id, version) as files:
            files.put(doc_id, None)

    def place(self, collection: str, doc_id: str) -> str:
        """Return the path of a document's file."""
        return str(self._files[collection].path(doc_id))

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Rename a document's file to `*.corrupt` and return its new path; a reader leaves it where it is.

        A file of several documents is set aside once; for the others nothing is returned.
        """
        files = self._files[collection]
        path = files.found_at(doc_id)
        if not os.path.lexists(path):
            return ""
        if not self._is_reader:
            path = set_aside(path)
            self._aside.add(path)
            files.forget(doc_id)
        return str(path)

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside and still lies there, oldest first."""
        files = self._files[collection]
        found = [
            DamagedDocument(
                doc_id=path.name.partition(".json")[0],
                name=path.name,
                at=datetime.fromtimestamp(path.lstat().st_mtime, UTC),
                is_new=path in self._aside,
            )
            for path in files.folder.glob("*.corrupt")
        ]
        return sorted(found, key=lambda damaged: (damaged.at, damaged.name))

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document's file to closed/<yyyy-mm>/<id>.<at>.json."""
        files = self._files[collection]
        with files.lock, self._alone(files.folder):
            if file_stamp(files.path(doc_id)) is not None:
                self._archive[collection].take(files.path(doc_id), doc_id, at)
            files.put(doc_id, None)

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, of all ids or of one, and since when; the newest first."""
        with self._files[collection].lock:
            return self._archive[collection].newest_first(doc_id, since)

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""
        return self._archive[collection].read(archived)

    def restore(self, collection: str, document: Document, *, archived: ArchivedDocument | None = None) -> None:
        """Write a document's file as it was elsewhere; a new one is on disk for good once `FileEngine.alone` is left.

        Raises:
            StoreError: it holds nothing, or the disk refuses.
        """
        if document.value is None:
            raise StoreError(f"{document.id} of {collection} cannot be read")
        files, content = self._files[collection], {**document.value, "version": document.version}
        with files.lock, self._alone(files.folder):
            if archived is not None:
                self._archive[collection].restore(archived, content, document.written_at)
                return
            files.put(document.id, content)
            written_at = document.written_at.timestamp()
            os.utime(files.path(document.id), (written_at, written_at))
            files.forget(document.id)

    def put_archived(self, collection: str, archived: ArchivedDocument, value: Mapping[str, Any]) -> None:
        """Replace an archived document's file."""
        files = self._files[collection]
        with files.lock, self._alone(files.folder):
            self._archive[collection].rewrite(archived, value)

    @contextmanager
    def _unchanged(self, collection: str, doc_id: str, version: int) -> Iterator[JsonFiles]:
        """Enter alone, where the stored version is `version`; raises Conflict where it is another."""
        files = self._files[collection]
        with files.lock, self._alone(files.folder):
            stored = files.get(doc_id)
            if (stored.version if stored else 0) != version:
                raise Conflict(f"{doc_id} was changed meanwhile; look again")
            yield files

    @contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        """Keep other processes from writing to a folder; the first time, sweep what a crash left there."""
        name = "documents" if folder == self._home else folder.name
        with self._leases.hold(name):
            create_folder(folder)
            if folder not in self._swept:
                self._swept.add(make_folder(folder))
            yield
