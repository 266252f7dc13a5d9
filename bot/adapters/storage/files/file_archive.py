"""The archive of closed documents, `<yyyy-mm>/<id>.<at>.json`.

Its names are read once and kept in memory (100,000 of them: 0.4 s and 33 MB).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, insort
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import (
    create_folder,
    file_stamp,
    free_path,
    list_names,
    read_json,
    replace_json,
    sync_folder,
)
from bot.adapters.storage.files.tinydb_storage import Stored
from bot.errors import refused
from bot.ports.storage import ArchivedDocument, Document

_NAME: Final = re.compile(r"(?P<id>[^/]+)\.(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\.\d+)?\.json")
_AT: Final = "%Y-%m-%dT%H:%M:%SZ"


class FileArchive:
    """Takes the files of documents and finds them again; its caller holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: dict[str | None, list[ArchivedDocument]] = {}

    def newest_first(self, doc_id: str | None, since: datetime | None = None) -> list[ArchivedDocument]:
        """Return what lies here, of all documents or of one, the newest first; raises StoreError.

        With `since` only what is of that moment or a later one.
        """
        found = self._known().get(doc_id, [])
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
            months = [month for month in list_names(self._folder) if (self._folder / month).is_dir()]
            names = (f"{month}/{name}" for month in months for name in list_names(self._folder / month))
            found = sorted(filter(None, map(_entry, names)), key=_archive_order)
            by_id: dict[str | None, list[ArchivedDocument]] = {None: found}
            for one in found:
                by_id.setdefault(one.doc_id, []).append(one)
            self._lists = by_id
        return self._lists


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
