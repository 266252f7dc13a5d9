"""Archived documents, one file each: <yyyy-mm>/<id>.<at>.json below a folder, found again by name.

The names are read once, at the first question, and kept in memory (100,000 of them: 0.4 s and 33 MB): a look-up
then costs the same however much has been closed. One process owns the folder.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import read_json, sync_folder
from bot.adapters.storage.files.json_files import as_document, file_stamp, list_names
from bot.errors import refusal
from bot.ports.storage import ArchivedDocument, Document

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
