"""Port Documents over the files of one data directory: which collection is kept where, and in what form.

The bot and the terminal both write. A write compares the version, replaces the file as a whole and is alone while it
does so: each folder has a lock that the kernel releases. A document carries its `version`; one of an earlier version of
triage, or written by hand, counts as version 1.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from bot.adapters.storage.files.atomic_write import make_folder, read_json, remove_file, replace_json, set_aside
from bot.adapters.storage.files.file_leases import exclusive_lock
from bot.errors import Conflict, StoreError, refusal
from bot.ports.storage import DAMAGED, Document

FILES: Final[Mapping[str, str]] = {
    "overrides": "overrides.json",
    "proposals": "proposals/*.json",
    "suggestions": "suggestions/*.json",
    "wakes": "wakes/*",
    "pause": "paused.json",
    "presence": "slack/connection.json",
    "gaps": "slack/gaps.json",
    "briefs": "brief.json",
    "lesson_backlog": "lessons.json",
    "rechecks": "rechecks.json",
    "task_lists": "listed.json",
    "removed_checks": "removed.json",
}
"""Below the data directory; `*` stands for the document's id, and a path without one is a single document.

`overrides` is one file with every document by its id, and a wake is an empty file: what it says is its name.
"""

Stamp = tuple[int, int, int]
"""Time (ns), size and inode: what changes when a file is replaced, or written to by hand."""


class Shelf(Protocol):
    """The documents of one collection; `folder` is where its lock lies."""

    folder: Path
    lock: threading.RLock

    def path(self, doc_id: str) -> Path:
        """Return the file that holds a document, or would."""
        ...

    def get(self, doc_id: str) -> Document | None:
        """Return a document as it is on disk."""
        ...

    def all(self) -> list[Document]:
        """Return every document, by id."""
        ...

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Write a document, or with None delete it; raises StoreError and changes nothing."""
        ...


class FileDocuments:
    """The documents of one data directory; with `is_reader` nothing is written, set aside or created."""

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        self._is_reader = is_reader
        shelf = {"overrides": OneJsonFile, "wakes": EmptyFiles}
        self._shelves: Mapping[str, Shelf] = {
            name: shelf.get(name, JsonFiles)(home, name, pattern) for name, pattern in FILES.items()
        }
        self._swept: set[Path] = set()

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None; raises StoreError when the disk refuses."""
        return self._shelves[collection].get(doc_id)

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document, by id; raises StoreError when the disk refuses."""
        shelf = self._shelves[collection]
        with shelf.lock:
            return shelf.all()

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`, 0 where there must be none."""
        with self._unchanged(collection, doc_id, version) as shelf:
            shelf.put(doc_id, {**value, "version": version + 1})

    def delete(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        with self._unchanged(collection, doc_id, version) as shelf:
            shelf.put(doc_id, None)

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Rename a document's file to `*.corrupt` and return its new path; a reader leaves it where it is."""
        path = self._shelves[collection].path(doc_id)
        return str(path if self._is_reader else set_aside(path))

    @contextmanager
    def _unchanged(self, collection: str, doc_id: str, version: int) -> Iterator[Shelf]:
        """Enter alone, where the stored version is `version`; raises Conflict where it is another."""
        shelf = self._shelves[collection]
        with shelf.lock, self._alone(shelf.folder):
            stored = shelf.get(doc_id)
            if (stored.version if stored else 0) != version:
                raise Conflict(f"{doc_id} was changed meanwhile; look again")
            yield shelf

    @contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        """Keep other processes from writing to a folder; the first time, sweep what a crash left there."""
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise refusal(f"cannot use the folder {folder}", error, "set TRIAGE_HOME to one you own") from error
        with exclusive_lock(folder / ".lock"):
            if folder not in self._swept:
                self._swept.add(make_folder(folder))
            yield


class JsonFiles:
    """One JSON file for each document, replaced as a whole; a file is read again only after it changed."""

    def __init__(self, home: Path, name: str, pattern: str) -> None:
        self._home, self._name, self._pattern = home, name, pattern
        before, star, self._after = pattern.partition("*")
        self._is_single, self._is_flat = not star, bool(star) and "/" not in self._after
        self.folder = (home / before) if star else (home / pattern).parent
        self.lock = threading.RLock()
        self._known: dict[str, tuple[Stamp, Document]] = {}
        self._listed: tuple[Stamp | None, list[Document]] | None = None

    def path(self, doc_id: str) -> Path:
        """Return the file of a document."""
        return self._home / self._pattern.replace("*", doc_id)

    def get(self, doc_id: str) -> Document | None:
        """Return a document; its value is None where the file holds no JSON object."""
        path = self.path(doc_id)
        stamp = file_stamp(path)
        if stamp is None:
            return None
        known = self._known.get(doc_id)
        if known is None or known[0] != stamp:
            try:
                known = self._known[doc_id] = stamp, as_document(doc_id, read_json(path), stamp)
            except StoreError:
                if file_stamp(path) is None:  # removed meanwhile
                    return None
                raise
        return known[1]

    def all(self) -> list[Document]:
        """Return every document, by id; every write renames a file into its folder, whose time tells of it."""
        stamp = file_stamp(self.folder) if self._is_flat else None
        if self._listed is None or self._listed[0] != stamp or not self._is_flat:
            self._listed = stamp, [one for doc_id in self._ids() if (one := self.get(doc_id)) is not None]
        return self._listed[1]

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace or delete the file."""
        path = self.path(doc_id)
        if content is None:
            remove_file(path)
        else:
            replace_json(path if path.parent == self.folder else make_folder(path.parent) / path.name, content)
        self._listed = None

    def _ids(self) -> list[str]:
        if self._is_single:
            return [self._name]
        suffix = self._after.partition("/")[0]
        return sorted(name.removesuffix(suffix) for name in list_names(self.folder) if name.endswith(suffix))


class EmptyFiles(JsonFiles):
    """An empty file for each document, whose id is all it says."""

    def get(self, doc_id: str) -> Document | None:
        """Return a document without a value."""
        stamp = file_stamp(self.path(doc_id))
        return None if stamp is None else as_document(doc_id, {}, stamp)

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Create or delete the file."""
        self._listed = None
        if content is None:
            return remove_file(self.path(doc_id))
        try:
            self.path(doc_id).touch(mode=0o600)
        except OSError as error:
            raise refusal(f"cannot write {self.path(doc_id)}", error, "fix the folder's owner") from error


class OneJsonFile(JsonFiles):
    """One JSON file for all documents of a collection, `{id: document}`."""

    _whole: tuple[Mapping[str, Any] | None, Stamp] = {}, (0, 0, 0)

    def get(self, doc_id: str) -> Document | None:
        """Return a document; where the file cannot be read, any is damaged."""
        content, stamp = self._content()
        if content is not None and doc_id not in content:
            return None
        found = content[doc_id] if content is not None else None
        return as_document(doc_id, found if isinstance(found, dict) else None, stamp)

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace the file."""
        kept = {name: one for name, one in (self._content()[0] or {}).items() if name != doc_id}
        replace_json(self.path(doc_id), {**kept, doc_id: content} if content is not None else kept)

    def _ids(self) -> list[str]:
        content, _ = self._content()
        return [self._name] if content is None else sorted(content)

    def _content(self) -> tuple[Mapping[str, Any] | None, Stamp]:
        path = self.path(self._name)
        stamp = file_stamp(path)
        if stamp is None:
            return {}, (0, 0, 0)
        if self._whole[1] != stamp:
            self._whole = read_json(path), stamp
        return self._whole


def list_names(folder: Path) -> list[str]:
    """Return what lies in a folder, without what is hidden or being written; nothing where there is no folder.

    Raises:
        StoreError: it cannot be listed (`Path.glob` would take a forbidden folder for an empty one).
    """
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refusal(f"cannot list {folder}", error, "fix the folder's owner") from error


def file_stamp(path: Path) -> Stamp | None:
    """Return what tells one content of a file from another; None where there is no file.

    Raises:
        StoreError: the disk refuses.
    """
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal(f"cannot read {path}", error, "fix its owner") from error
    return found.st_mtime_ns, found.st_size, found.st_ino


def as_document(doc_id: str, content: dict[str, Any] | None, stamp: Stamp) -> Document:
    """Return what a file holds; None is something that cannot be read."""
    version = content.get("version", 1) if content is not None else DAMAGED
    value = {key: held for key, held in content.items() if key != "version"} if content is not None else None
    at = datetime.fromtimestamp(stamp[0] / 1e9, UTC)
    return Document(id=doc_id, version=version, value=value, written_at=at)
