"""Documents that one process owns: TinyDB with one JSON file each, and an archive for those that are closed.

TinyDB's own JSON storage rewrites one file in place, which a crash destroys (FACTS: TinyDB); this one writes only what
changed, each document atomically. What it hands out shares nothing. The archive is <yyyy-mm>/<id>.<at>.json; its names
are read once and kept in memory (100,000 of them: 0.4 s and 33 MB), so that a look-up costs the same however many
there are.
"""

from __future__ import annotations

import copy
import re
from collections.abc import MutableMapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from bot.adapters.storage.files.atomic_write import make_folder, read_json, sync_folder
from bot.adapters.storage.files.json_files import JsonFiles, Stamp, as_document, file_stamp, list_names
from bot.errors import refusal
from bot.ports.storage import ArchivedDocument, Document

_TABLE = "documents"
_Contents = dict[str, dict[str, Any]]


class _Folder(Storage):
    """A TinyDB storage of one table whose documents are files."""

    def __init__(self, files: JsonFiles) -> None:
        self._files = files
        read = files.all()
        self.damaged = {one.id: one for one in read if one.value is None}
        self.contents: _Contents = {
            one.id: {**one.value, "version": one.version} for one in read if one.value is not None
        }

    def read(self) -> dict[str, _Contents]:
        """Return every document, copied as deep as TinyDB changes them: one level.

        TinyDB reads all for one, so a full copy would let every look at a document cost as much as all of them.
        """
        return {_TABLE: {doc_id: dict(content) for doc_id, content in self.contents.items()}}

    def write(self, data: dict[str, _Contents]) -> None:
        """Write the documents that differ from what is on disk; raises StoreError when the disk refuses."""
        contents = data.get(_TABLE, {})
        for doc_id, content in contents.items():
            if self.contents.get(doc_id) != content:
                self._files.put(doc_id, dict(content))
                self.contents[doc_id] = copy.deepcopy(dict(content))
        for doc_id in self.contents.keys() - contents.keys():
            self._files.put(doc_id, None)
            del self.contents[doc_id]


class _Table(Table):
    document_id_class = str  # type: ignore[assignment]  # documented hook; the stub says int
    default_query_cache_capacity = 0


class _Database(TinyDB):
    table_class = _Table


class TinyFiles(JsonFiles):
    """The files of a collection, in memory from the first look on."""

    @cached_property
    def _storage(self) -> _Folder:
        make_folder(self.folder)
        return _Folder(JsonFiles(self._home, self._name, self._pattern))

    @cached_property
    def _table(self) -> Table:
        return _Database(storage=lambda: self._storage).table(_TABLE)

    def get(self, doc_id: str) -> Document | None:
        """Return a document as this process wrote or first read it."""
        with self.lock:
            if doc_id in self._storage.damaged:
                return self._storage.damaged[doc_id]
            found = self._table.get(doc_id=doc_id)  # type: ignore[call-overload]
        return as_document(doc_id, dict(found), self._stamp(doc_id)) if isinstance(found, TinyDocument) else None

    def all(self) -> list[Document]:
        """Return every document, by id."""
        with self.lock:
            found = [as_document(str(one.doc_id), dict(one), self._stamp(str(one.doc_id))) for one in self._table.all()]
            return sorted([*found, *self._storage.damaged.values()], key=lambda one: one.id)

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace or delete a document."""

        def replace(old: MutableMapping[Any, Any]) -> None:
            old.clear()
            old.update(content or {})

        if content is None:
            self._table.remove(doc_ids=[doc_id])  # type: ignore[list-item]
        elif self._table.contains(doc_id=doc_id):  # type: ignore[arg-type]
            self._table.update(replace, doc_ids=[doc_id])  # type: ignore[list-item]
        else:
            self._table.insert(TinyDocument(content, doc_id=doc_id))  # type: ignore[arg-type]

    def forget(self, doc_id: str) -> None:
        """Take note that the file is gone."""
        with self.lock:
            self._storage.damaged.pop(doc_id, None)
            self._storage.contents.pop(doc_id, None)

    def _stamp(self, doc_id: str) -> Stamp:
        return file_stamp(self.path(doc_id)) or (0, 0, 0)


_NAME: Final = re.compile(r"(?P<id>[^/]+)\.(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\.(?P<number>\d+))?\.json")
_AT: Final = "%Y-%m-%dT%H:%M:%SZ"


class FileArchive:
    """Takes the files of documents and finds them again; its caller holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, list[ArchivedDocument]] | None = None

    def newest_first(self, doc_id: str | None) -> list[ArchivedDocument]:
        """Return what lies here, of all documents or of one, the newest first; raises StoreError."""
        index = self._index()
        found = index.get(doc_id, []) if doc_id is not None else [one for each in index.values() for one in each]
        return sorted(found, key=lambda one: (one.at, _number(one.name)), reverse=True)

    def read(self, archived: ArchivedDocument) -> Document | None:
        """Return what was archived; its value is None where it cannot be read. Raises StoreError."""
        path = self._folder / archived.name
        stamp = file_stamp(path)
        return None if stamp is None else as_document(archived.doc_id, read_json(path), stamp)

    def take(self, source: Path, doc_id: str, at: datetime) -> None:
        """Move a document's file here; a second one of the same second gets a number.

        Raises:
            StoreError: the disk refuses; the file is where it was.
        """
        folder = self._folder / f"{at:%Y-%m}"
        stem = f"{doc_id}.{at.astimezone(UTC):{_AT}}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            target, number = folder / f"{stem}.json", 1
            while target.exists():
                number += 1
                target = folder / f"{stem}.{number}.json"
            index = self._index()
            source.rename(target)
            sync_folder(folder)
        except OSError as error:
            raise refusal(f"cannot archive {source}", error, "check the disk and the folder's owner") from error
        if (one := _archived(f"{folder.name}/{target.name}")) is not None:
            index.setdefault(doc_id, []).append(one)

    def _index(self) -> dict[str, list[ArchivedDocument]]:
        if self._known is None:
            known: dict[str, list[ArchivedDocument]] = {}
            for month in list_names(self._folder):
                names = list_names(self._folder / month) if (self._folder / month).is_dir() else []
                for one in filter(None, (_archived(f"{month}/{name}") for name in names)):
                    known.setdefault(one.doc_id, []).append(one)
            self._known = known
        return self._known


def _archived(name: str) -> ArchivedDocument | None:
    """Return what a file's name says; None where it is no archived document's."""
    found = _NAME.fullmatch(name.rpartition("/")[2])
    if found is None:
        return None
    try:
        at = datetime.strptime(found["at"], _AT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return ArchivedDocument(doc_id=found["id"], at=at, name=name)


def _number(name: str) -> int:
    """Return which ending of its second a file is."""
    found = _NAME.fullmatch(name.rpartition("/")[2])
    return int(found["number"] or 1) if found else 1
