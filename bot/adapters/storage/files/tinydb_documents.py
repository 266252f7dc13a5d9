"""Documents of one process in TinyDB, one JSON file each, and the archive of closed ones.

TinyDB's own JSON storage rewrites one file in place, which a crash destroys; this one writes only the
changed documents, each atomically. Reads go by key, so they cost the same however many documents there are; what they
return must not be changed. The archive is <yyyy-mm>/<id>.<at>.json; its names are read once and kept in memory
(100,000 of them: 0.4 s and 33 MB).
"""

from __future__ import annotations

import copy
import os
import re
from bisect import insort
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from bot.adapters.storage.files.atomic_write import (
    create_folder,
    free_path,
    make_folder,
    read_json,
    replace_json,
    sync_folder,
)
from bot.adapters.storage.files.json_files import JsonFiles, Stamp, as_document, file_stamp, list_names
from bot.errors import refused
from bot.ports.storage import ArchivedDocument, Document

_TABLE = "documents"
_Contents = dict[str, dict[str, Any]]

_NAME: Final = re.compile(r"(?P<id>[^/]+)\.(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\.(?P<number>\d+))?\.json")
ARCHIVED_AT: Final = "%Y-%m-%dT%H:%M:%SZ"


class _Folder(Storage):
    """A TinyDB storage of one table whose documents are files.

    TinyDB reads a table to change one of its documents, in place: it gets a copy of that one, `changing`, and no other.
    """

    def __init__(self, files: JsonFiles) -> None:
        self._files = files
        self.changing = ""
        read = files.all()
        self.damaged = {one.id: one for one in read if one.value is None}
        self.contents: _Contents = {
            one.id: {**one.value, "version": one.version} for one in read if one.value is not None
        }

    def read(self) -> dict[str, _Contents]:
        """Return a copy of the document that is about to be changed, if there is one."""
        known = self.contents.get(self.changing)
        return {_TABLE: {self.changing: dict(known)} if known is not None else {}}

    def write(self, data: dict[str, _Contents]) -> None:
        """Write or delete the document that was changed; raises StoreError when the disk refuses."""
        content = data.get(_TABLE, {}).get(self.changing)
        self._files.put(self.changing, None if content is None else dict(content))
        if content is None:
            self.contents.pop(self.changing, None)
        else:
            self.contents[self.changing] = copy.deepcopy(dict(content))


class _Table(Table):
    document_id_class = str  # type: ignore[assignment]  # documented hook; the stub says int
    default_query_cache_capacity = 0


class _Database(TinyDB):
    table_class = _Table


class TinyFiles(JsonFiles):
    """The files of a collection, in memory from the first look on."""

    def __init__(self, home: Path, name: str, pattern: str) -> None:
        super().__init__(home, name, pattern)
        self._handed_out: dict[str, tuple[dict[str, Any], Document]] = {}

    @cached_property
    def _storage(self) -> _Folder:
        make_folder(self.folder)
        return _Folder(JsonFiles(self._home, self._name, self._pattern))

    @cached_property
    def _table(self) -> Table:
        return _Database(storage=lambda: self._storage).table(_TABLE)

    def get(self, doc_id: str) -> Document | None:
        """Return a document as this process wrote or first read it, the same one until it is written again."""
        with self.lock:
            return self._get(doc_id)

    def all(self) -> list[Document]:
        """Return every document, by id."""
        with self.lock:
            ids = sorted([*self._storage.contents, *self._storage.damaged])
            return [one for doc_id in ids if (one := self._get(doc_id)) is not None]

    def _get(self, doc_id: str) -> Document | None:
        if doc_id in self._storage.damaged:
            return self._storage.damaged[doc_id]
        content = self._storage.contents.get(doc_id)
        if content is None:
            return None
        known = self._handed_out.get(doc_id)
        if known is None or known[0] is not content:
            document = as_document(doc_id, copy.deepcopy(content), self._stamp(doc_id))
            known = self._handed_out[doc_id] = content, document
        return known[1]

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace or delete a document."""

        def replace(old: MutableMapping[Any, Any]) -> None:
            old.clear()
            old.update(content or {})

        self._handed_out.pop(doc_id, None)
        self._storage.changing = doc_id
        if content is None:
            self._table.remove(doc_ids=[doc_id])  # type: ignore[list-item]
        elif doc_id in self._storage.contents:
            self._table.update(replace, doc_ids=[doc_id])  # type: ignore[list-item]
        else:
            self._table.insert(TinyDocument(content, doc_id=doc_id))  # type: ignore[arg-type]

    def forget(self, doc_id: str) -> None:
        """Take note that the file is gone."""
        with self.lock:
            self._storage.damaged.pop(doc_id, None)
            self._storage.contents.pop(doc_id, None)
            self._handed_out.pop(doc_id, None)

    def _stamp(self, doc_id: str) -> Stamp:
        return file_stamp(self.path(doc_id)) or (0, 0, 0)


class FileArchive:
    """Takes the files of documents and finds them again; its caller holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, list[ArchivedDocument]] | None = None
        self._by_month: dict[str, list[ArchivedDocument]] = {}

    def newest_first(self, doc_id: str | None, since: datetime | None = None) -> list[ArchivedDocument]:
        """Return what lies here, of all documents or of one, the newest first; raises StoreError.

        With `since` only the months from then on are looked at.
        """
        if doc_id is not None:
            return sorted(self._index().get(doc_id, []), key=_archive_order, reverse=True)
        months = sorted(self._months_from(f"{since.astimezone(UTC):%Y-%m}" if since else ""), reverse=True)
        found = [one for month in months for one in reversed(self._month(month))]
        return found if since is None else [one for one in found if one.at >= since]

    def read(self, archived: ArchivedDocument) -> Document | None:
        """Return what was archived; its value is None where it cannot be read. Raises StoreError."""
        path = self._folder / archived.name
        stamp = file_stamp(path)
        return None if stamp is None else as_document(archived.doc_id, read_json(path), stamp)

    def rewrite(self, archived: ArchivedDocument, value: Mapping[str, Any]) -> None:
        """Replace what a file here holds, its version aside; raises StoreError."""
        path = self._folder / archived.name
        document = self.read(archived)
        if document is not None and document.value is not None:
            replace_json(path, {**value, "version": document.version})

    def restore(self, archived: ArchivedDocument, content: Mapping[str, Any], written_at: datetime) -> None:
        """Write the file of that name, or a new one where there is none; raises StoreError."""
        path = self._folder / archived.name
        if _archived_document(archived.name) is None or not path.exists():
            folder = self._folder / f"{archived.at:%Y-%m}"
            create_folder(folder)
            path = free_path(folder / f"{archived.doc_id}.{archived.at.astimezone(UTC):{ARCHIVED_AT}}", ".json")
        replace_json(path, dict(content))
        os.utime(path, (written_at.timestamp(), written_at.timestamp()))
        self._known = None
        self._by_month.pop(path.parent.name, None)

    def take(self, source: Path, doc_id: str, at: datetime) -> None:
        """Move a document's file here; a second one of the same second gets a number.

        Raises:
            StoreError: the disk refuses; the file is where it was.
        """
        folder = self._folder / f"{at:%Y-%m}"
        stem = f"{doc_id}.{at.astimezone(UTC):{ARCHIVED_AT}}"
        create_folder(folder)
        with refused(f"cannot archive {source}", "check the disk and the folder's owner"):
            target = free_path(folder / stem, ".json")
            index, month = self._index(), self._month(folder.name)
            source.rename(target)
            sync_folder(folder)
        if (one := _archived_document(f"{folder.name}/{target.name}")) is not None:
            index.setdefault(doc_id, []).append(one)
            insort(month, one, key=_archive_order)

    def _index(self) -> dict[str, list[ArchivedDocument]]:
        if self._known is None:
            known: dict[str, list[ArchivedDocument]] = {}
            for month in self._months_from(""):
                for one in self._month(month):
                    known.setdefault(one.doc_id, []).append(one)
            self._known = known
        return self._known

    def _months_from(self, oldest: str) -> list[str]:
        """Return the names of the months from the oldest that is wanted on."""
        return [name for name in list_names(self._folder) if name >= oldest and (self._folder / name).is_dir()]

    def _month(self, month: str) -> list[ArchivedDocument]:
        """Return what lies in a month's folder, read once, oldest first."""
        if month not in self._by_month:
            folder = self._folder / month
            names = list_names(folder) if folder.is_dir() else []
            found = [one for name in names if (one := _archived_document(f"{month}/{name}")) is not None]
            self._by_month[month] = sorted(found, key=_archive_order)
        return self._by_month[month]


def _archived_document(name: str) -> ArchivedDocument | None:
    """Return what a file's name says; None where it is no archived document's."""
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
