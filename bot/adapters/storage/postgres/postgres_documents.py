"""Ports Documents and NoteStore over tables: one row for each document, and a note is a document named by its path.

Each write is one statement that compares the version, so changes of other replicas are seen by the next call. A
retired note keeps its path, so its name stays taken, and is shown below memory/retired/.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bot.adapters.storage.files.file_documents import OF_PROCESS
from bot.adapters.storage.postgres.database import Database
from bot.domain.notes import RETIRED, KeptNote, StoredNote, check_note_path
from bot.errors import Conflict, InputError, StoreError
from bot.ports import Documents
from bot.ports.collections import NOTES, Collection
from bot.ports.storage import DAMAGED, ArchivedDocument, DamagedDocument, Document

_VERSION: Final = "version"

_SELECT: Final = """
    SELECT id, version, content, written_at FROM triage_documents WHERE namespace = %s AND collection = %s
"""
_INSERT: Final = """
    INSERT INTO triage_documents (namespace, collection, id, version, content)
    VALUES (%(namespace)s, %(collection)s, %(id)s, 1, %(content)s::json)
    ON CONFLICT DO NOTHING RETURNING id
"""
_UPDATE: Final = """
    UPDATE triage_documents
    SET version = version + 1, content = %(content)s::json, written_at = clock_timestamp()
    WHERE namespace = %(namespace)s AND collection = %(collection)s AND id = %(id)s AND version = %(version)s
    RETURNING id
"""
_DELETE: Final = """
    DELETE FROM triage_documents WHERE namespace = %s AND collection = %s AND id = %s AND version = %s RETURNING id
"""
_DAMAGED: Final = """
    SELECT number, id, written_at FROM triage_damaged
    WHERE namespace = %s AND collection = %s ORDER BY written_at, number
"""
_ARCHIVED: Final = """
    SELECT id, archived_for, number FROM triage_archive
    WHERE namespace = %(namespace)s AND collection = %(collection)s
    AND (%(id)s::text IS NULL OR id = %(id)s)
    AND (%(since)s::timestamptz IS NULL OR archived_for >= %(since)s)
    ORDER BY archived_for DESC, number DESC
"""
_READ_ARCHIVED: Final = """
    SELECT id, version, content, written_at FROM triage_archive
    WHERE namespace = %s AND collection = %s AND number = %s
"""
_SET_ASIDE: Final = """
    WITH gone AS (
        DELETE FROM triage_documents WHERE namespace = %s AND collection = %s AND id = %s RETURNING *
    )
    INSERT INTO triage_damaged (namespace, collection, id, version, content, written_at)
    SELECT namespace, collection, id, version, content, written_at FROM gone
    RETURNING number
"""
_ARCHIVE: Final = """
    WITH gone AS (
        DELETE FROM triage_documents WHERE namespace = %s AND collection = %s AND id = %s RETURNING *
    )
    INSERT INTO triage_archive (namespace, collection, id, archived_for, version, content, written_at)
    SELECT namespace, collection, id, %s, version, content, written_at FROM gone
"""

_RESTORE: Final = """
    INSERT INTO triage_documents (namespace, collection, id, version, content, written_at)
    VALUES (%(namespace)s, %(collection)s, %(id)s, %(version)s, %(content)s::json, %(written_at)s)
    ON CONFLICT (namespace, collection, id) DO UPDATE
    SET version = excluded.version, content = excluded.content, written_at = excluded.written_at
"""
_RESTORE_OVER: Final = """
    UPDATE triage_archive SET version = %(version)s, content = %(content)s::json, written_at = %(written_at)s
    WHERE namespace = %(namespace)s AND collection = %(collection)s AND id = %(id)s AND number = %(number)s
    RETURNING number
"""
_RESTORE_ARCHIVED: Final = """
    INSERT INTO triage_archive (namespace, collection, id, archived_for, version, content, written_at)
    VALUES (
        %(namespace)s, %(collection)s, %(id)s, %(archived_for)s, %(version)s, %(content)s::json, %(written_at)s
    )
"""

_MEMORY: Final = "memory/"
_RETIRED: Final = f"{_MEMORY}{RETIRED}/"


class PostgresDocuments:
    """The documents of one namespace; what all teams of a process have in common is in `process`, if that is given."""

    def __init__(self, database: Database, namespace: str, *, process: str | None = None) -> None:
        self._database, self._namespace, self._process = database, namespace, process
        self._aside: set[int] = set()

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None where there is none."""
        rows = self._database.read(f"{_SELECT} AND id = %s", [*self._of(collection), doc_id])
        return _document(*rows[0]) if rows else None

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document of a collection, by id."""
        return [_document(*row) for row in self._database.read(f"{_SELECT} ORDER BY id", self._of(collection))]

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        """Return the documents that hold this text in a field of their own, by id."""
        return [one for one in self.list(collection) if (one.value or {}).get(field) == value]

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`, 0 where there must be none."""
        place = {"namespace": self._of(collection)[0], "collection": collection, "id": doc_id, "version": version}
        given = {**place, "content": as_json(_without_version(value))}
        _require(self._database.write(_INSERT if version == 0 else _UPDATE, given), doc_id)

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        _require(self._database.write(_DELETE, [*self._of(collection), doc_id, version]), doc_id)

    def place(self, collection: str, doc_id: str) -> str:
        """Return what names a document's row."""
        return f"triage_documents: {'/'.join(self._of(collection))}/{doc_id}"

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Move a document's row to triage_damaged; return what names it there."""
        moved = self._database.write(_SET_ASIDE, [*self._of(collection), doc_id])
        if not moved:
            return self.place(collection, doc_id)
        [(number,)] = moved
        self._aside.add(number)
        return f"triage_damaged: {_damaged_name(doc_id, number)}"

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside and still lies there, oldest first."""
        return [
            DamagedDocument(doc_id=doc_id, name=_damaged_name(doc_id, number), at=at, is_new=number in self._aside)
            for number, doc_id, at in self._database.read(_DAMAGED, self._of(collection))
        ]

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document's row to triage_archive."""
        self._database.write(_ARCHIVE, [*self._of(collection), doc_id, at])

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, of all ids or of one, and since when; the newest first."""
        given = {"namespace": self._of(collection)[0], "collection": collection, "id": doc_id, "since": since}
        rows = self._database.read(_ARCHIVED, given)
        return [ArchivedDocument(doc_id=one, at=at, name=str(number)) for one, at, number in rows]

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""
        rows = self._database.read(_READ_ARCHIVED, [*self._of(collection), int(archived.name)])
        return _document(*rows[0]) if rows else None

    def restore(self, collection: str, document: Document, *, archived: ArchivedDocument | None = None) -> None:
        """Write a row as it was elsewhere; raises StoreError, also where it holds nothing."""
        if document.value is None:
            raise StoreError(f"{document.id} of {collection} cannot be read")
        given = {
            "namespace": self._of(collection)[0],
            "collection": collection,
            "id": document.id,
            "version": document.version,
            "content": as_json(_without_version(document.value)),
            "written_at": document.written_at,
        }
        if archived is None:
            self._database.write(_RESTORE, given)
            return
        number = int(archived.name) if archived.name.isdigit() else 0
        if not self._database.write(_RESTORE_OVER, {**given, "number": number}):
            self._database.write(_RESTORE_ARCHIVED, {**given, "archived_for": archived.at})

    def _of(self, collection: str) -> tuple[str, str]:
        """Return in which namespace a collection is, and its name."""
        if self._process is not None and collection in OF_PROCESS:
            return self._process, collection
        return self._namespace, collection


def as_json(value: Any) -> str:
    """Return a value as JSON that the type `json` takes: half of a surrogate pair stands there as its escape.

    >>> as_json({"text": "ü\\ud800"})
    '{"text":"ü\\\\ud800"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def _document(doc_id: str, version: int, content: Any, written_at: datetime) -> Document:
    """Return a row as a document; content that is no JSON object was written by hand."""
    if not isinstance(content, dict):
        return Document(id=doc_id, version=DAMAGED, value=None, written_at=written_at)
    return Document(id=doc_id, version=version, value=content, written_at=written_at)


def _without_version(value: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what has a column of its own."""
    return {key: held for key, held in value.items() if key != _VERSION}


def _damaged_name(doc_id: str, number: int) -> str:
    return f"{doc_id}.{number}.corrupt"


def _require(changed: Sequence[object], doc_id: str) -> None:
    if not changed:
        raise Conflict(f"{doc_id} was changed meanwhile; look again")


class DocumentNotes:
    """The notes of one namespace."""

    def __init__(self, documents: Documents) -> None:
        self._notes = Collection(documents, NOTES)
        self._lock = threading.Lock()
        self._stored: dict[str, StoredNote] = {}
        self._kept: tuple[KeptNote, ...] = ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name; raises StoreError."""
        with self._lock:
            if (stored := self._notes.by_id()) != self._stored:
                known = {note.ref: note for note in self._kept}
                on_shelf = [(f"{_MEMORY}{path}", note.whole) for path, note in stored.items() if not note.is_retired]
                self._kept = tuple(
                    old if (old := known.get(ref)) and old.whole == whole else KeptNote.read(ref, whole)
                    for ref, whole in on_shelf
                )
                self._stored = stored
            return self._kept

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref, else None; raises StoreError."""
        path = f"{name}.md"
        return f"{_MEMORY}{path}" if self._notes.add(path, _stored(text)) else None

    def find(self, name: str) -> str | None:
        """Return the ref of the note of that name, retired ones too; None if there is none."""
        note = self._notes.find(f"{name}.md")
        return None if note is None else f"{_RETIRED if note.is_retired else _MEMORY}{name}.md"

    def retire(self, ref: str) -> str | None:
        """Put a note where no search looks and return its new ref; None if it is not there any more."""

        def retired(note: StoredNote) -> StoredNote:
            if note.is_retired:
                raise InputError(f"{ref} was retired")
            return note.evolve(is_retired=True)

        with suppress(InputError):
            self._notes.change(ref.removeprefix(_MEMORY), retired)
            return f"{_RETIRED}{ref.removeprefix(_MEMORY)}"
        return None

    def put(self, ref: str, whole: str) -> None:
        """Write a note over what stands there; raises InputError for no ref."""
        is_retired, path = ref.startswith(_RETIRED), ref.removeprefix(_RETIRED).removeprefix(_MEMORY)
        stored = _stored(whole).evolve(is_retired=is_retired)
        if not self._notes.add(check_note_path(path), stored):
            self._notes.change(path, lambda _: stored)

    def stored(self) -> Iterator[tuple[str, str]]:
        """Yield the path below memory/ and the whole of every note, retired ones too; raises StoreError."""
        for path, note in self._notes.by_id().items():
            yield f"{RETIRED}/{path}" if note.is_retired else path, note.whole

    def remove(self, ref: str) -> None:
        """Delete a note; raises InputError for no ref."""
        self._notes.remove(check_note_path(ref.removeprefix(_MEMORY)))


def _stored(text: str) -> StoredNote:
    """Return a note as it is stored; halves of surrogate pairs become question marks, as they do in files."""
    return StoredNote(whole=text.encode("utf-8", "replace").decode())
