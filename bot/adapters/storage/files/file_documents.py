"""Port Documents over the files of one data directory: which collection is kept where and in what form; its archive.

The bot and the terminal both write. A write compares the version, replaces the file as a whole and is alone while it
does so: each folder has a lease. A document carries its `version`; one of an earlier version of
triage, or written by hand, counts as version 1.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from tinydb import where

from bot.adapters.storage.files.atomic_write import (
    create_folder,
    file_stamp,
    free_path,
    list_names,
    make_folder,
    read_json,
    replace_json,
    set_aside,
    sync_folder,
)
from bot.adapters.storage.files.tinydb_storage import DocumentFiles, DocumentTable, Stored
from bot.config.home import process_home
from bot.errors import Conflict, StoreError, refused
from bot.ports.collections import CLONES, HANDED_OVER, HOMES, INDEX, OVERRIDES, PEOPLE, PRESENCE, THREADS
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
    "moved": "moved.json",
}
"""Below the data directory; `*` stands for the document's id, and a path without one is a single document.

`overrides` is one file with every document by its id, and a wake is an empty file: what it says is its name.
"""

UNUSED: Final = frozenset({"proposals", "calibration", "reviews", "lesson_backlog", "rechecks"})
"""What features wrote that were removed: it is left where it is, and `triage migrate` carries it along."""

ALL_COLLECTIONS: Final = tuple(name for name in FILES if name not in UNUSED)
"""Every collection in use."""

OF_PROCESS: Final = frozenset({PRESENCE, INDEX, CLONES, PEOPLE, HANDED_OVER, HOMES})
"""What all teams of a process have in common, and find in its own data directory."""

_NAME: Final = re.compile(r"(?P<id>[^/]+)\.(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\.\d+)?\.json")
_AT: Final = "%Y-%m-%dT%H:%M:%SZ"


class FileDocuments:
    """The documents of one data directory; with `is_reader` nothing is written, set aside or created."""

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        self._is_reader = is_reader
        self._tables = {
            name: DocumentTable(
                DocumentFiles(
                    process_home(home) if name in OF_PROCESS else home, name, pattern, is_whole=name == OVERRIDES.name
                )
            )
            for name, pattern in FILES.items()
        }
        self._archive = {THREADS.name: FileArchive(home / "closed")}
        self._swept: set[Path] = set()
        self._aside: set[Path] = set()

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None; raises StoreError when the disk refuses."""
        key = cast(int, doc_id)  # the stub knows no text
        return next(iter(self._read(collection, lambda table: [table.get(doc_id=key)])), None)

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document, by id; raises StoreError when the disk refuses."""
        return self._read(collection, DocumentTable.all)

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        """Return the documents that hold this text in a field of their own, by id."""
        return self._read(collection, lambda table: table.search(where(field) == value))

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`, 0 where there must be none."""
        with self._unchanged(collection, doc_id, version) as table:
            table.replace(doc_id, {**value, "version": version + 1})

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        with self._unchanged(collection, doc_id, version) as table:
            table.replace(doc_id, None)

    def place(self, collection: str, doc_id: str) -> str:
        """Return the path of a document's file."""
        return str(self._tables[collection].files.path(doc_id))

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Rename a document's file to `*.corrupt` and return its new path; a reader leaves it where it is.

        A file of several documents is set aside once; for the others nothing is returned.
        """
        path = self._tables[collection].files.place(doc_id)
        if not os.path.lexists(path):
            return ""
        if not self._is_reader:
            path = set_aside(path)
            self._aside.add(path)
            self._tables[collection].files.look_again()
        return str(path)

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside and still lies there, oldest first."""
        found = [
            DamagedDocument(
                doc_id=path.name.partition(".json")[0],
                name=path.name,
                at=datetime.fromtimestamp(path.lstat().st_mtime, UTC),
                is_new=path in self._aside,
            )
            for path in self._tables[collection].files.folder.glob("*.corrupt")
        ]
        return sorted(found, key=lambda damaged: (damaged.at, damaged.name))

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document's file to closed/<yyyy-mm>/<id>.<at>.json."""
        with self._alone(collection, doc_id) as table:
            if table.files.get(doc_id) is not None:
                self._archive[collection].take(table.files.path(doc_id), doc_id, at)

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, of all ids or of one, and since when; the newest first."""
        with self._tables[collection].files.lock:
            return self._archive[collection].newest_first(doc_id, since)

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""
        return self._archive[collection].read(archived)

    def restore(self, collection: str, document: Document, *, archived: ArchivedDocument | None = None) -> None:
        """Write a document's file as it was elsewhere; raises StoreError, also for one that holds nothing."""
        if document.value is None:
            raise StoreError(f"{document.id} of {collection} cannot be read")
        content, written_at = {**document.value, "version": document.version}, document.written_at
        with self._alone(collection, document.id) as table:
            if archived is not None:
                self._archive[collection].restore(archived, content, written_at)
            else:
                table.replace(document.id, content)
                os.utime(table.files.path(document.id), (written_at.timestamp(), written_at.timestamp()))

    def _read(self, collection: str, look: Callable[[DocumentTable], Iterable[Any]]) -> Sequence[Document]:
        table = self._tables[collection]
        with table.files.lock:
            return [stored.document for stored in look(table) if stored is not None]

    @contextmanager
    def _unchanged(self, collection: str, doc_id: str, version: int) -> Iterator[DocumentTable]:
        """Enter alone, where the stored version is `version`; raises Conflict where it is another."""
        with self._alone(collection, doc_id) as table:
            stored = self.get(collection, doc_id)
            if (stored.version if stored else 0) != version:
                raise Conflict(f"{doc_id} was changed meanwhile; look again")
            yield table

    @contextmanager
    def _alone(self, collection: str, doc_id: str) -> Iterator[DocumentTable]:
        """Keep other threads and processes from writing; the first time, sweep what a crash left in the folder."""
        table = self._tables[collection]
        folder = table.files.path(doc_id).parent
        with table.files.writing(doc_id):
            create_folder(folder)
            if folder not in self._swept:
                self._swept.add(make_folder(folder))
            yield table


class FileArchive:
    """The archive of closed documents, `<yyyy-mm>/<id>.<at>.json`; its caller holds the lock.

    Its names are read once and kept in memory (100,000 of them: 0.4 s and 33 MB); before that, whoever asks for what is
    of a moment or later has the names of these months read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: dict[str | None, list[ArchivedDocument]] = {}

    def newest_first(self, doc_id: str | None, since: datetime | None = None) -> list[ArchivedDocument]:
        """Return what lies here, of all documents or of one, the newest first; raises StoreError.

        With `since` only what is of that moment or a later one.
        """
        is_recent = doc_id is None and since is not None and not self._lists
        found = self._names(since) if is_recent else self._known().get(doc_id, [])
        first = 0 if since is None else bisect_left(found, since, key=lambda one: one.at)
        return found[first:][::-1]

    def read(self, archived: ArchivedDocument) -> Document | None:
        """Return what was archived; its value is None where it cannot be read. Raises StoreError."""
        path = self._folder / archived.name
        stamp = file_stamp(path)
        return None if stamp is None else Stored(read_json(path), archived.doc_id, stamp).document

    def restore(self, archived: ArchivedDocument, content: Mapping[str, Any], written_at: datetime) -> None:
        """Write the file of that name, or a new one, which the caller syncs, where there is none; raises StoreError."""
        path = self._folder / archived.name
        is_new = _entry(archived.name) is None or not path.exists()
        path = self._new_path(archived.doc_id, archived.at) if is_new else path
        replace_json(path, content, is_synced=not is_new)
        os.utime(path, (written_at.timestamp(), written_at.timestamp()))
        if is_new:
            self._add(path)

    def take(self, source: Path, doc_id: str, at: datetime) -> None:
        """Move a document's file here; a second one of the same second gets a number.

        Raises:
            StoreError: the disk refuses; the file is where it was.
        """
        with refused(f"cannot archive {source}", "check the disk and the folder's owner"):
            path = self._new_path(doc_id, at)
            source.rename(path)
            sync_folder(path.parent)
        self._add(path)

    def _new_path(self, doc_id: str, at: datetime) -> Path:
        """Return where a document goes; what its folder holds is read before, for `_add`."""
        folder = self._folder / f"{at.astimezone(UTC):%Y-%m}"
        create_folder(folder)
        self._known()
        return free_path(folder / f"{doc_id}.{at.astimezone(UTC):{_AT}}", ".json")

    def _add(self, path: Path) -> None:
        if (one := _entry(f"{path.parent.name}/{path.name}")) is not None:
            for key in (None, one.doc_id):
                insort(self._known().setdefault(key, []), one, key=_archive_order)

    def _known(self) -> dict[str | None, list[ArchivedDocument]]:
        """Return what lies here, oldest first: of each document by its id, and of all by None."""
        if not self._lists:
            found = self._names()
            by_id: dict[str | None, list[ArchivedDocument]] = {None: found}
            for one in found:
                by_id.setdefault(one.doc_id, []).append(one)
            self._lists = by_id
        return self._lists

    def _names(self, since: datetime | None = None) -> list[ArchivedDocument]:
        """Return what lies in the folder of each month, or of those since then, oldest first."""
        first = f"{since.astimezone(UTC):%Y-%m}" if since else ""
        months = [one for one in list_names(self._folder) if one >= first and (self._folder / one).is_dir()]
        names = (f"{month}/{name}" for month in months for name in list_names(self._folder / month))
        return sorted(filter(None, map(_entry, names)), key=_archive_order)


def _entry(name: str) -> ArchivedDocument | None:
    """Return what the name of a file below closed/ says; None where it is no archived document's."""
    found = _NAME.fullmatch(name.rpartition("/")[2])
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(found["at"])
    except ValueError:
        return None
    return ArchivedDocument(doc_id=found["id"], at=at, name=name)


def _archive_order(one: ArchivedDocument) -> tuple[datetime, int, str]:
    """Return what to sort by: the second or tenth ending of a second has a longer name."""
    return one.at, len(one.name), one.name
