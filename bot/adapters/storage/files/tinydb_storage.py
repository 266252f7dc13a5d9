"""A TinyDB table whose documents are files: one each, one for all, or empty ones whose name is all they say.

TinyDB's own storage writes over its file, which a crash destroys, and reads all of it at each look. Here a look at one
document reads its file, a look at all of them those that changed, and a change replaces one file. An id is text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from tinydb import where
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from bot.adapters.storage.files.atomic_write import (
    Stamp,
    file_stamp,
    is_no_folder,
    list_names,
    read_json,
    remove_file,
    replace_json,
)
from bot.errors import StoreError, refused
from bot.ports.storage import DAMAGED, Document

_TABLE: Final = "documents"
_VERSION: Final = "version"
_DAMAGED: Final = {_VERSION: DAMAGED}
"""What stands in the table for what cannot be read; it is never written."""

SETTLED_NS: Final = 50_000_000
"""After how long the time of a folder tells of any change: file systems round it to some milliseconds."""


class Stored(TinyDocument):
    """What a file holds, and when it was written: the same object at each look, which nobody changes."""

    written_at: datetime

    def __new__(cls, content: Mapping[str, Any], doc_id: str) -> Stored:  # noqa: ARG004 - TinyDB's
        """Return the very document that TinyDB hands out, where it would copy it."""
        return content if isinstance(content, cls) else super().__new__(cls)

    def __init__(self, content: Mapping[str, Any], doc_id: str) -> None:
        if content is not self:
            super().__init__(content, doc_id)  # type: ignore[arg-type]  # the stub says int

    @classmethod
    def of(cls, content: object, doc_id: str, stamp: Stamp) -> Stored:
        """Return what a file holds; what is no JSON object cannot be read."""
        stored = cls(content if isinstance(content, dict) else _DAMAGED, doc_id)
        stored.written_at = datetime.fromtimestamp(stamp[0] / 1e9, UTC)
        return stored

    @cached_property
    def document(self) -> Document:
        """The same for the port; without a version, as earlier releases and people write it, it is the first."""
        version, doc_id = self.get(_VERSION, 1), str(self.doc_id)
        if not isinstance(version, int) or version == DAMAGED:
            return Document(id=doc_id, version=DAMAGED, value=None, written_at=self.written_at)
        value = {key: held for key, held in self.items() if key != _VERSION}
        return Document(id=doc_id, version=version, value=value, written_at=self.written_at)


class _File(NamedTuple):
    """A file as it was read: what tells it from a later one, and the documents in it."""

    stamp: Stamp
    held: Mapping[str, Stored]


class DocumentFiles(Storage, Mapping[str, Stored]):
    """The files of one collection; whoever uses them holds `lock`. Every method raises StoreError.

    `pattern` is their place below `home`: `*` stands for the id, and at its end for empty files. One without it is the
    file of a single document, called `name`, or with `is_whole` of all of them, `{id: document}`.
    """

    def __init__(self, home: Path, name: str, pattern: str, *, is_whole: bool = False) -> None:
        self.home, self._name, self._is_whole = home, name, is_whole
        self._before, self._star, self._after = f"{home}/{pattern}".partition("*")
        self.folder = Path(self._before) if self._star else Path(self._before).parent
        self._is_nested = "/" in self._after
        self.lock = threading.RLock()
        self._files: dict[str, _File] = {}
        self._listed: tuple[Stamp | None, dict[str, Stored]] = None, {}
        self._changing: str | None = None

    def path(self, doc_id: str) -> Path:
        """Return the file of a document."""
        return Path(self._file(doc_id))

    def place(self, doc_id: str) -> Path:
        """Return what stands where a document's file belongs: that file, or what is no folder and should hold it."""
        path = self.path(doc_id)
        return next(filter(is_no_folder, (self.folder, path.parent)), path) if self._is_nested else path

    def __getitem__(self, doc_id: str) -> Stored:
        """Return a document; where the file of all cannot be read, any is damaged."""
        held = self._held(doc_id)
        return held[self._name if self._is_whole and held.get(self._name) == _DAMAGED else doc_id]

    def __iter__(self) -> Iterator[str]:
        """Yield every id, in order."""
        return iter(self._all())

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self._all())

    def items(self) -> ItemsView[str, Stored]:
        """Return every id with its document, in order."""
        return self._all().items()

    @contextmanager
    def changing(self, doc_id: str) -> Iterator[None]:
        """Enter to change one document: TinyDB reads and writes all that it is given, and changes it in place."""
        self._changing = doc_id
        try:
            yield
        finally:
            self._changing = None

    def read(self) -> dict[str, Any]:
        """Return the table; inside `changing` a copy of that document alone."""
        if self._changing is None:
            return {_TABLE: self}
        held = self.get(self._changing)
        return {_TABLE: {} if held is None else {self._changing: dict(held)}}

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace or delete the file of the document that is changed."""
        doc_id = self._changing or self._name
        path, content = self.path(doc_id), data[_TABLE].get(doc_id)
        self._files.pop(doc_id if self._star else self._name, None)
        if self._is_whole:
            others = (read_json(path) or {}) if path.exists() else {}
            others.pop(doc_id, None)
            replace_json(path, others if content is None else {**others, doc_id: content})
        elif content is None:
            remove_file(path)
        elif self._star and not self._after:
            with refused(f"cannot write {path}", "fix the folder's owner"):
                path.touch(mode=0o600)
        else:
            replace_json(path, content)

    def _all(self) -> dict[str, Stored]:
        """Return every document, by id; each write renames a file into its folder, whose time tells of it."""
        stamp = file_stamp(self.folder) if self._star and not self._is_nested else None
        if stamp is None or stamp != self._listed[0]:
            is_settled = stamp is not None and time.time_ns() - stamp[0] > SETTLED_NS
            ids = self._ids()
            self._listed = (
                stamp if is_settled else None,
                {name: one for doc_id in ids for name, one in self._held(doc_id).items()},
            )
            self._files = {doc_id: self._files[doc_id] for doc_id in ids if doc_id in self._files}
        return self._listed[1]

    def _file(self, doc_id: str) -> str:
        return f"{self._before}{doc_id}{self._after}" if self._star else self._before

    def _ids(self) -> list[str]:
        """Return the ids of what may be there, in order."""
        if not self._star:
            return [self._name]
        ending = self._after.partition("/")[0]
        return sorted(name.removesuffix(ending) for name in list_names(self.folder) if name.endswith(ending))

    def _held(self, doc_id: str) -> Mapping[str, Stored]:
        """Return the documents in a document's file, which is read again only after it changed."""
        key = doc_id if self._star else self._name
        place = self.place(doc_id) if self._is_nested else self._file(doc_id)
        if (stamp := file_stamp(place)) is None:
            return {}
        known = self._files.get(key)
        if known is None or known.stamp != stamp:
            try:
                known = self._files[key] = _File(stamp, self._parsed(key, place, stamp))
            except StoreError:
                if file_stamp(place) is None:  # removed meanwhile
                    return {}
                raise
        return known.held

    def _parsed(self, key: str, place: str | Path, stamp: Stamp) -> dict[str, Stored]:
        """Return what a file holds."""
        whole: dict[str, Any] | None = None
        if self._star and not self._after:
            whole = {}
        elif Path(place) == self.path(key):
            whole = read_json(Path(place))
        contents = whole if self._is_whole and whole is not None else {key: whole}
        return {name: Stored.of(contents[name], name, stamp) for name in sorted(contents)}


class DocumentTable(Table):
    """The table over the files of a collection; its query cache, which knows nothing of other processes, is off."""

    document_class: Any = Stored
    document_id_class: Any = str

    def __init__(self, files: DocumentFiles) -> None:
        super().__init__(files, _TABLE, cache_size=0)
        self.files = files

    def one(self, doc_id: str) -> Document | None:
        """Return a document, or None."""
        key: Any = doc_id
        with self.files.lock:
            found: Any = self.get(doc_id=key)
            return None if found is None else found.document

    def every(self) -> list[Document]:
        """Return every document, by id."""
        with self.files.lock:
            return _documents(self.all())

    def holding(self, field: str, value: str) -> list[Document]:
        """Return the documents that hold this text in a field of their own, by id."""
        with self.files.lock:
            return _documents(self.search(where(field) == value))

    def replace(self, doc_id: str, content: Mapping[str, Any] | None) -> None:
        """Store a document in place of what is there, or remove it; raises StoreError and changes nothing."""
        ids: Any = [doc_id]

        def change(before: MutableMapping[Any, Any]) -> None:
            before.clear()
            before.update(content or {})

        with self.files.changing(doc_id):
            if content is None:
                self.remove(doc_ids=ids)
            elif doc_id in self.files:
                self.update(change, doc_ids=ids)
            else:
                self.insert(Stored(content, doc_id))


def _documents(found: Iterable[Any]) -> list[Document]:
    return [one.document for one in found]
