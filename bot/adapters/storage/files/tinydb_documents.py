"""Documents behind TinyDB, one JSON file each: a collection that one process owns, read once.

TinyDB's own JSON storage rewrites one file in place, which a crash destroys (FACTS: TinyDB); this one writes only what
changed, each document atomically. What it hands out shares nothing.
"""

from __future__ import annotations

import copy
from collections.abc import MutableMapping
from functools import cached_property
from typing import Any

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from bot.adapters.storage.files.atomic_write import make_folder
from bot.adapters.storage.files.json_files import JsonFiles, Stamp, as_document, file_stamp
from bot.ports.storage import Document

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
