"""How the documents of a collection lie in files: one file each, one file for all, or files that hold nothing."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.atomic_write import (
    folder_advice,
    is_no_folder,
    make_folder,
    read_json,
    remove_file,
    replace_bytes,
    replace_json,
)
from bot.errors import StoreError, refusal, refused
from bot.ports.storage import DAMAGED, Document

_ADVICE = "give the data directory of `triage run` (--home or TRIAGE_HOME), as the user who runs it"
Stamp = tuple[int, int, int]
"""Time (ns), size and inode: what changes when a file is replaced, or written to by hand."""


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

    def found_at(self, doc_id: str) -> Path:
        """Return what stands in the place of a document: its file, or something that is no folder to hold it."""
        path = self.path(doc_id)
        folders = (self.folder, path.parent) if path.parent != self.folder else ()
        return next(filter(is_no_folder, folders), path)

    def get(self, doc_id: str) -> Document | None:
        """Return a document; its value is None where what stands in its place holds no JSON object."""
        path = self.found_at(doc_id)
        stamp = file_stamp(path)
        if stamp is None:
            return None
        known = self._known.get(doc_id)
        if known is None or known[0] != stamp:
            try:
                content = read_json(path) if path == self.path(doc_id) else None
            except StoreError:
                if file_stamp(path) is None:  # removed meanwhile
                    return None
                raise
            known = self._known[doc_id] = stamp, as_document(doc_id, content, stamp)
        return known[1]

    def all(self) -> list[Document]:
        """Return every document, by id; every write renames a file into its folder, whose time tells of it."""
        stamp = file_stamp(self.folder) if self._is_flat else None
        if self._listed is None or self._listed[0] != stamp or not self._is_flat:
            self._listed = stamp, [one for doc_id in self.ids() if (one := self.get(doc_id)) is not None]
        return self._listed[1]

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace or delete the file."""
        path = self.path(doc_id)
        if content is None:
            remove_file(path)
        else:
            replace_json(path if path.parent == self.folder else make_folder(path.parent) / path.name, content)
        self._listed = None

    def forget(self, doc_id: str) -> None:
        """Take note that the file is gone."""
        self._known.pop(doc_id, None)

    def ids(self) -> list[str]:
        """Return the ids of what may be there; a document of that name may still be missing."""
        if self._is_single:
            return [self._name]
        suffix = self._after.partition("/")[0]
        return sorted(name.removesuffix(suffix) for name in list_names(self.folder) if name.endswith(suffix))


class CompactJsonFiles(JsonFiles):
    """One JSON file on one line for each document, for large ones that machines read: nothing is kept in memory."""

    def get(self, doc_id: str) -> Document | None:
        """Return a document; its value is None where what stands in its place holds no JSON object."""
        found = super().get(doc_id)
        self._known.pop(doc_id, None)
        return found

    def all(self) -> list[Document]:
        """Return every document, by id."""
        return [one for doc_id in self.ids() if (one := self.get(doc_id)) is not None]

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Replace or delete the file."""
        if content is None:
            remove_file(self.path(doc_id))
        else:
            replace_bytes(self.path(doc_id), json.dumps(content, separators=(",", ":")).encode() + b"\n")


class EmptyFiles(JsonFiles):
    """An empty file for each document, whose id is all it says."""

    def get(self, doc_id: str) -> Document | None:
        """Return a document without a value."""
        stamp = file_stamp(self.path(doc_id))
        return None if stamp is None else as_document(doc_id, {}, stamp)

    def put(self, doc_id: str, content: dict[str, Any] | None) -> None:
        """Create or delete the file."""
        self._listed = None
        path = self.path(doc_id)
        if content is None:
            remove_file(path)
        else:
            with refused(f"cannot write {path}", "fix the folder's owner"):
                path.touch(mode=0o600)


class OneJsonFile(JsonFiles):
    """One JSON file for all documents of a collection, `{id: document}`."""

    _whole: tuple[Mapping[str, Any] | None, Stamp] = {}, (0, 0, 0)

    def path(self, doc_id: str) -> Path:  # noqa: ARG002 - the same for each
        """Return the file of all documents."""
        return self._home / self._pattern

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

    def ids(self) -> list[str]:
        """Return the ids of the documents in the file; where it cannot be read, the collection's name."""
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


def list_names(folder: Path, *, is_home: bool = False) -> list[str]:
    """Return what lies in a folder, without what is hidden or being written; nothing where there is no folder.

    With `is_home` it is the data directory itself, of which another may be meant: nothing of it is moved away.

    Raises:
        StoreError: it cannot be listed (`Path.glob` would take a forbidden folder for an empty one).
    """
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        advice = _ADVICE if is_home else folder_advice(folder, _ADVICE)
        raise refusal(f"cannot read {folder}", error, advice) from error


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
    at = datetime.fromtimestamp(stamp[0] / 1e9, UTC)
    version = content.get("version", 1) if content is not None else None
    if content is None or not isinstance(version, int):
        return Document(id=doc_id, version=DAMAGED, value=None, written_at=at)
    value = {key: held for key, held in content.items() if key != "version"}
    return Document(id=doc_id, version=version, value=value, written_at=at)
