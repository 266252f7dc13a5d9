"""A TinyDB table whose documents are files: one each, one for all, or empty ones whose name is all they say.

TinyDB's own storage writes over its file, which a crash destroys, and reads all of it at each look. Here a look at one
document reads its file, a look at all of them those that changed, and a change replaces one file. An id is text.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import ItemsView, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from tinydb.storages import Storage
from tinydb.table import Table

from bot.adapters.storage.files.atomic_write import (
    Stamp,
    file_stamp,
    is_no_folder,
    list_names,
    list_stamps,
    read_json,
    remove_file,
    replace_json,
)
from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import StoreError, refused
from bot.ports.storage import DAMAGED, Document

_TABLE: Final = "documents"
_VERSION: Final = "version"

SETTLED_NS: Final = 50_000_000
"""After how long the time of a folder tells of any change: file systems round it to some milliseconds."""

TRUSTED_NS: Final = 1_000_000_000
"""How long a list is kept in line with our own writes alone: a file put there by hand beside one is seen after that."""

MARK_BYTES: Final = 16

MAX_VERSION: Final = 2**63
"""What a database takes."""


class Stored(dict[str, Any]):
    """What a file holds, and the document that it is: the same object at each look, which nobody changes."""

    def __init__(self, content: object, doc_id: str, stamp: Stamp) -> None:
        """Without a version, as earlier releases and people write it, it is the first; other content is damaged."""
        super().__init__(content if isinstance(content, dict) else {_VERSION: DAMAGED})
        found = self.get(_VERSION, 1)
        version = found if type(found) is int and 0 < found < MAX_VERSION else DAMAGED
        value = None if version == DAMAGED else {key: held for key, held in self.items() if key != _VERSION}
        written_at = datetime.fromtimestamp(stamp[0] / 1e9, UTC)
        self.document = Document(id=doc_id, version=version, value=value, written_at=written_at)


class _Mark(NamedTuple):
    """What stands in the lease of a folder since the last write, and the stamp of the folder."""

    written: bytes
    folder: Stamp


class DocumentFiles(Storage):
    """The files of one collection; whoever uses them holds `lock`. Every method raises StoreError.

    `pattern` is their place below `home`: `*` stands for the id, and at its end for empty files. One without it is the
    file of a single document, called `name`, or with `is_whole` of all of them, `{id: document}`. While one document is
    `changing` TinyDB, which reads and writes all that it is given, is given that one alone, and empty.
    """

    def __init__(self, home: Path, name: str, pattern: str, *, is_whole: bool = False) -> None:
        self.home, self._name, self._is_whole = home, name, is_whole
        self._before, self._star, self._after = f"{home}/{pattern}".partition("*")
        self.folder = Path(self._before) if self._star else Path(self._before).parent
        self._is_nested = "/" in self._after
        self._is_flat = bool(self._star) and not self._is_nested
        self.lock = threading.RLock()
        self.changing: str | None = None
        self._leases, self._lease = FileLeases(home), "documents" if self.folder == home else self.folder.name
        self._files: dict[str, tuple[Stamp, dict[str, Stored]]] = {}
        self._listed: dict[str, Stored] = {}
        self._listed_mark: _Mark | None = None
        self._listed_ns = 0
        self._written: set[str] = set()
        self._written_mark: _Mark | None = None

    def path(self, doc_id: str) -> Path:
        """Return the file of a document."""
        return Path(f"{self._before}{doc_id}{self._after}" if self._star else self._before)

    def place(self, doc_id: str) -> Path:
        """Return what stands where a document's file belongs: that file, or what is no folder and should hold it."""
        path = self.path(doc_id)
        return next(filter(is_no_folder, (self.folder, path.parent)), path) if self._is_nested else path

    def read(self) -> dict[str, Any]:
        """Return the table."""
        return {_TABLE: self if self.changing is None else {self.changing: {}}}

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace or delete the file of the document that is changed."""
        doc_id = self.changing or self._name
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

    def get(self, doc_id: str, default: None = None) -> Stored | None:
        """Return a document; where the file of all cannot be read, any is damaged."""
        held = self._held(doc_id)
        whole = held.get(self._name) if self._is_whole else None
        return whole if whole is not None and whole.document.value is None else held.get(doc_id, default)

    @contextmanager
    def writing(self, doc_id: str) -> Iterator[None]:
        """Keep other threads and processes from writing; those that list see that something was written."""
        with self.lock, self._leases.hold(self._lease) as lease:
            before = self._mark()
            try:
                _leave(lease, bytes(MARK_BYTES))
                yield
            finally:
                _leave(lease, os.urandom(MARK_BYTES))
                self._written_mark = self._mark()
                if before is not None and before == self._listed_mark:
                    self._listed_mark = self._written_mark
                    self._written.add(doc_id)

    def look_again(self) -> None:
        """Read the folder at the next look."""
        self._listed_mark = None

    def items(self) -> ItemsView[str, Stored]:
        """Return every id with its document, in order: those that this process wrote, or all, as the folder tells."""
        mark, now = self._mark(), time.time_ns()
        if mark is None or not self._is_in_line(mark, now):
            found = self._flat_stamps() if self._is_flat else dict.fromkeys(self._ids())
            held = {name: one for doc_id in sorted(found) for name, one in self._held(doc_id, found[doc_id]).items()}
            self._files = {doc_id: self._files[doc_id] for doc_id in found if doc_id in self._files}
            self._listed, self._listed_mark, self._listed_ns = held, mark, now
        else:
            for doc_id in self._written:
                self._listed.pop(doc_id, None)
                self._listed |= self._held(doc_id)
            self._listed = dict(sorted(self._listed.items())) if self._written else self._listed
        self._written.clear()
        return self._listed.items()

    def _mark(self) -> _Mark | None:
        """Return what each write of a flat folder changes, and each file that is put there or renamed by hand.

        None where there is no such folder, or a write is under way, or a crash cut one off.
        """
        if not self._is_flat or (stamp := file_stamp(f"{self.folder}/.")) is None:  # of what a link leads to
            return None
        written = self._leases.read(self._lease, MARK_BYTES)
        return None if written == bytes(MARK_BYTES) else _Mark(written, stamp)

    def _is_in_line(self, mark: _Mark, now: int) -> bool:
        """Whether the list at hand lacks nothing but our own writes."""
        is_settled = self._listed_ns - mark.folder[0] > SETTLED_NS
        is_ours = mark == self._written_mark and abs(now - self._listed_ns) < TRUSTED_NS
        return mark == self._listed_mark and (is_settled or is_ours)

    def _flat_stamps(self) -> dict[str, Stamp | None]:
        """Return the stamp of each document's file by its id, all with one look at their folder."""
        found = list_stamps(self.folder)
        return {name.removesuffix(self._after): one for name, one in found.items() if name.endswith(self._after)}

    def _ids(self) -> list[str]:
        """Return the ids of what may be there."""
        if not self._star:
            return [self._name]
        ending = self._after.partition("/")[0]
        return [name.removesuffix(ending) for name in list_names(self.folder) if name.endswith(ending)]

    def _held(self, doc_id: str, stamp: Stamp | None = None) -> dict[str, Stored]:
        """Return the documents in a document's file, which is read again only after it changed."""
        key = doc_id if self._star else self._name
        if stamp is not None and key in self._files and self._files[key][0] == stamp:
            return self._files[key][1]
        place = self.place(doc_id)
        if (stamp := file_stamp(place)) is None:
            return {}
        if key not in self._files or self._files[key][0] != stamp:
            try:
                whole = self._content(place, key)
            except StoreError:
                if file_stamp(place) is None:  # removed meanwhile
                    return {}
                raise
            contents = whole if self._is_whole and whole is not None else {key: whole}
            self._files[key] = stamp, {name: Stored(contents[name], name, stamp) for name in sorted(contents)}
        return self._files[key][1]

    def _content(self, place: Path, key: str) -> dict[str, Any] | None:
        """Return what a file holds; None where it is no JSON object."""
        if self._star and not self._after:
            return {}
        return read_json(place) if place == self.path(key) else None


def _leave(lease: int, mark: bytes) -> None:
    """Write a mark into a lease's file; on a full disk the time of the folder alone tells of the write."""
    with suppress(OSError):
        os.pwrite(lease, mark, 0)


class DocumentTable(Table):
    """The table over the files of a collection; its query cache, which knows nothing of other processes, is off."""

    document_class: Any = staticmethod(lambda stored, _: stored)
    document_id_class: Any = str

    def __init__(self, files: DocumentFiles) -> None:
        super().__init__(files, _TABLE, cache_size=0)
        self.files = files

    def replace(self, doc_id: str, content: Mapping[str, Any] | None) -> None:
        """Store a document in place of what is there, or remove it; raises StoreError and changes nothing."""
        ids: Any = [doc_id]
        self.files.changing = doc_id
        try:
            self.remove(doc_ids=ids) if content is None else self.update(content, doc_ids=ids)
        finally:
            self.files.changing = None
