"""Ports Documents, NoteStore and Journal over tables: a row for each document and each record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString, TypeAlias

from bot.adapters.storage.files.file_documents import OF_PROCESS
from bot.adapters.storage.files.ndjson_journal import JournalLines, record_in
from bot.adapters.storage.postgres.database import Database
from bot.domain.notes import RETIRED, KeptNote, StoredNote, check_note_path
from bot.errors import Conflict, StoreError
from bot.ports import Documents
from bot.ports.collections import Collection
from bot.ports.feature_collections import NOTES
from bot.ports.storage import DAMAGED, ArchivedDocument, DamagedDocument, Document, Names

_Rows: TypeAlias = Sequence[tuple[Any, ...]]
_VERSION: Final = "version"
_OF: Final = "WHERE namespace = %(namespace)s AND collection = %(collection)s"
_UNCHANGED: Final = f"{_OF} AND id = %(id)s AND version = %(version)s RETURNING id"
_SELECT: Final = "SELECT id, version, content, written_at FROM"
_INSERT: Final = """
    INSERT INTO triage_documents (namespace, collection, id, version, content)
    VALUES (%(namespace)s, %(collection)s, %(id)s, 1, %(content)s::json) ON CONFLICT DO NOTHING RETURNING id
"""
_UPDATE: Final = """
    UPDATE triage_documents SET version = version + 1, content = %(content)s::json, written_at = clock_timestamp()
"""
_DELETE: Final = "DELETE FROM triage_documents"
_GONE: Final = f"""
    WITH gone AS ({_DELETE} {_OF} AND id = %(id)s RETURNING namespace, collection, id, version, content, written_at)
"""
_TO_DAMAGED: Final = """
    INSERT INTO triage_damaged (namespace, collection, id, version, content, written_at)
    SELECT * FROM gone RETURNING id || '.' || number || '.corrupt'
"""
_TO_ARCHIVE: Final = """
    INSERT INTO triage_archive (namespace, collection, id, version, content, written_at, archived_for)
    SELECT *, %(at)s FROM gone
"""
_IN_ARCHIVE: Final = """
    AND (%(id)s::text IS NULL OR id = %(id)s) AND (%(since)s::timestamptz IS NULL OR archived_for >= %(since)s)
    ORDER BY archived_for DESC, triage_archive.number DESC
"""
_AS_IT_WAS: Final = "SET version = %(version)s, content = %(content)s::json, written_at = %(written_at)s"
_RESTORE: Final = """
    INSERT INTO triage_documents (namespace, collection, id, version, content, written_at)
    VALUES (%(namespace)s, %(collection)s, %(id)s, %(version)s, %(content)s::json, %(written_at)s)
    ON CONFLICT (namespace, collection, id) DO UPDATE
"""
_REPLACE_ARCHIVED: Final = f"UPDATE triage_archive {_AS_IT_WAS} {_OF} AND number::text = %(name)s RETURNING id"
_RESTORE_ARCHIVED: Final = """
    INSERT INTO triage_archive (namespace, collection, id, version, content, written_at, archived_for)
    VALUES (%(namespace)s, %(collection)s, %(id)s, %(version)s, %(content)s::json, %(written_at)s, %(at)s)
"""

_MEMORY: Final = "memory/"
_RETIRED: Final = f"{_MEMORY}{RETIRED}/"


class PostgresDocuments:
    """The documents of one namespace; what all teams of a process have in common is in `process`, if that is given."""

    def __init__(self, database: Database, namespace: str, *, process: str | None = None) -> None:
        self._database, self._namespace, self._process = database, namespace, process
        self._aside: set[str] = set()

    def get(self, collection: str, doc_id: str) -> Document | None:
        """Return a document, or None where there is none."""
        return next(self._documents(f"{_SELECT} triage_documents", collection, "AND id = %(id)s", id=doc_id), None)

    def list(self, collection: str) -> Sequence[Document]:
        """Return every document of a collection, by id."""
        return [*self._documents(f"{_SELECT} triage_documents", collection, "ORDER BY id")]

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        """Return the documents that hold this text in a field of their own, by id.

        The server looks for the text alone: its operators on JSON refuse a whole document for one U+0000 in it.
        """
        holding = "AND position(%(text)s IN content::text) > 0 ORDER BY id"
        found = self._documents(f"{_SELECT} triage_documents", collection, holding, text=as_json(value))
        return [one for one in found if one.value is not None and one.value.get(field) == value]

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        """Write a document if its version is still `version`, 0 where there must be none."""
        statement = f"{_UPDATE} {_UNCHANGED}" if version else _INSERT
        self._change(statement, collection, doc_id, version=version, content=_content(value))

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        """Remove a document if its version is still `version`."""
        self._change(f"{_DELETE} {_UNCHANGED}", collection, doc_id, version=version)

    def place(self, collection: str, doc_id: str) -> str:
        """Return what names a document's row."""
        return f"triage_documents: {'/'.join(self._of(collection).values())}/{doc_id}"

    def set_aside(self, collection: str, doc_id: str) -> str:
        """Move a document's row to triage_damaged; return what names it there."""
        for (name,) in self._write(f"{_GONE} {_TO_DAMAGED}", collection, id=doc_id):
            self._aside.add(name)
            return f"triage_damaged: {name}"
        return self.place(collection, doc_id)

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        """Return everything that was ever set aside and still lies there, oldest first."""
        select = "SELECT id, id || '.' || number || '.corrupt', written_at FROM triage_damaged"
        return [
            DamagedDocument(doc_id=doc_id, name=name, at=at, is_new=name in self._aside)
            for doc_id, name, at in self._read(select, collection, "ORDER BY written_at, number")
        ]

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        """Move a document's row to triage_archive."""
        self._write(f"{_GONE} {_TO_ARCHIVE}", collection, id=doc_id, at=at)

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        """Return what was archived, of all ids or of one, and since when; the newest first."""
        select = "SELECT id, archived_for, number::text FROM triage_archive"
        return [ArchivedDocument(*row) for row in self._read(select, collection, _IN_ARCHIVE, id=doc_id, since=since)]

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        """Return an archived document, or None where it is gone."""
        numbered = "AND number = %(number)s"
        return next(self._documents(f"{_SELECT} triage_archive", collection, numbered, number=int(archived.name)), None)

    def restore(self, collection: str, document: Document, *, archived: ArchivedDocument | None = None) -> None:
        """Write a row as it was elsewhere; raises StoreError, also where it holds nothing."""
        if document.value is None:
            raise StoreError(f"{document.id} of {collection} cannot be read")
        row = {"id": document.id, "version": document.version, "written_at": document.written_at}
        row["content"] = _content(document.value)
        if archived is None:
            self._write(f"{_RESTORE} {_AS_IT_WAS}", collection, **row)
        elif not self._write(_REPLACE_ARCHIVED, collection, **row, name=archived.name):
            self._write(_RESTORE_ARCHIVED, collection, **row, at=archived.at)

    def _of(self, collection: str) -> dict[str, str]:
        """Return in which namespace a collection is, and its name."""
        namespace = self._process if self._process is not None and collection in OF_PROCESS else self._namespace
        return {"namespace": namespace, "collection": collection}

    def _read(self, select: LiteralString, collection: str, which: LiteralString, **given: Any) -> _Rows:
        return self._database.read(f"{select} {_OF} {which}", {**self._of(collection), **given})

    def _documents(
        self, select: LiteralString, collection: str, which: LiteralString, **given: Any
    ) -> Iterator[Document]:
        """Yield rows as documents; content that is no JSON object was written by hand."""
        for doc_id, version, content, written_at in self._read(select, collection, which, **given):
            is_object = isinstance(content, dict)
            value = content if is_object else None
            yield Document(id=doc_id, version=version if is_object else DAMAGED, value=value, written_at=written_at)

    def _change(self, statement: LiteralString, collection: str, doc_id: str, **given: Any) -> None:
        if not self._write(statement, collection, id=doc_id, **given):
            raise Conflict(f"{doc_id} was changed meanwhile; look again")

    def _write(self, statement: LiteralString, collection: str, **given: Any) -> _Rows:
        return self._database.write(statement, {**self._of(collection), **given})


def as_json(value: Any) -> str:
    """Return a value as JSON that the type `json` takes: half of a surrogate pair stands there as its escape.

    >>> as_json({"text": "ü\\ud800"})
    '{"text":"ü\\\\ud800"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def _content(value: Mapping[str, Any]) -> str:
    """Return what a row holds of a value: the version has a column of its own."""
    return as_json({key: held for key, held in value.items() if key != _VERSION})


class DocumentNotes:
    """The notes of one namespace."""

    def __init__(self, documents: Documents) -> None:
        self._notes = Collection(documents, NOTES)
        self._seen: tuple[dict[str, StoredNote], Sequence[KeptNote]] = {}, ()

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name; raises StoreError."""
        stored, (before, kept) = self._notes.by_id(), self._seen
        if stored != before:
            on_shelf = {path: note for path, note in stored.items() if not note.is_retired}
            kept = tuple(KeptNote.read(_ref(path, note), note.whole) for path, note in on_shelf.items())
            self._seen = stored, kept
        return kept

    def stored(self) -> Iterator[tuple[str, str]]:
        """Yield every note, retired ones too: its path below memory/ and its text; raises StoreError."""
        for path, note in self._notes.by_id().items():
            yield _ref(path, note).removeprefix(_MEMORY), note.whole

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref, else None; raises StoreError."""
        note = _stored(text)
        return _ref(f"{name}.md", note) if self._notes.add(f"{name}.md", note) else None

    def retire(self, ref: str) -> str | None:
        """Put a note where no search looks and return its new ref; None if it is not there any more."""
        if ref not in {note.ref for note in self.all()}:
            return None
        path = ref.removeprefix(_MEMORY)
        return _ref(path, self._notes.evolve(path, is_retired=True))

    def put(self, ref: str, whole: str) -> None:
        """Write a note over what stands there; raises InputError for no ref."""
        path = check_note_path(ref.removeprefix(_RETIRED).removeprefix(_MEMORY))
        stored = _stored(whole, is_retired=ref.startswith(_RETIRED))
        if not self._notes.add(path, stored):
            self._notes.change(path, lambda _: stored)

    def remove(self, ref: str) -> None:
        """Delete a note; raises InputError for no ref."""
        self._notes.remove(check_note_path(ref.removeprefix(_MEMORY)))


def _ref(path: str, note: StoredNote) -> str:
    return f"{_RETIRED if note.is_retired else _MEMORY}{path}"


def _stored(text: str, *, is_retired: bool = False) -> StoredNote:
    """Return a note as it is stored; halves of surrogate pairs become question marks, as they do in files."""
    return StoredNote(whole=text.encode("utf-8", "replace").decode(), is_retired=is_retired)


PAGE: Final = 500
"""How many records one statement reads at most; nothing is held open between two."""

_FIRST_PAGE: Final = 20
"""Whoever reads back often stops early; each page is twice the one before."""

_SELECT_RECORDS: Final = """
    SELECT number, record::text FROM triage_records
    WHERE namespace = %(namespace)s AND journal = %(journal)s AND position(%(text)s IN record::text) > 0
"""
_RESTORE_RECORDS: Final = """
    WITH restored AS (
        INSERT INTO triage_records (namespace, journal, number, record)
        VALUES (%(namespace)s, %(journal)s, %(number)s, %(record)s::json)
    )
    INSERT INTO triage_identities (namespace, journal, identity)
    SELECT %(namespace)s, %(journal)s, unnest(%(names)s::text[]) ON CONFLICT DO NOTHING
"""
_RESTORED: Final = """
    INSERT INTO triage_journals (namespace, name, last) SELECT %(namespace)s, %(journal)s, count(*)
    FROM triage_records WHERE namespace = %(namespace)s AND journal = %(journal)s
"""


class PostgresJournal(JournalLines):
    """One journal of a namespace."""

    def __init__(self, database: Database, namespace: str, name: str) -> None:
        self._database, self._of = database, {"namespace": namespace, "journal": name}

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is committed."""
        if not self.append_once(record, ()):
            raise StoreError(f"the journal {self._of['journal']} has a record of the next number; see the server's log")

    def append_once(self, record: Mapping[str, Any], identities: Iterable[Sequence[str]]) -> bool:
        """Write a record unless one is there that is known by one of these names; False where it is.

        While another process is about to write a record, whoever appends waits until that one has committed.
        """
        append = "SELECT triage_append(%(namespace)s, %(journal)s, %(record)s::json, %(names)s)"
        given = {**self._of, "record": as_json(record), "names": names_of(identities)}
        return self._database.write(append, given) == [(True,)]

    def lines(self) -> Iterator[bytes]:
        """Yield every record as a line of a file, oldest first; also those that are none."""
        for text in self._texts("ASC"):
            is_bytes = text.startswith('"')
            yield json.loads(text).encode("utf-8", "surrogateescape") if is_bytes else text.replace("\n", " ").encode()

    def restore(self, lines: Iterable[bytes], names: Names) -> None:
        """Write lines into the empty journal, and under which names their records are known; raises StoreError."""

        def rows() -> Iterator[dict[str, Any]]:
            for number, line in enumerate(lines, 1):
                record = record_in(line)
                kept = line.decode("utf-8", "surrogateescape") if record is None else record
                known = names_of(() if record is None else names(record))
                yield {**self._of, "number": number, "record": as_json(kept), "names": known}

        with self._database.transaction() as connection:
            connection.cursor().executemany(_RESTORE_RECORDS, rows())
            connection.execute(_RESTORED, self._of)

    def _written(self, text: str) -> bytes:
        return as_json(text)[1:-1].encode()

    def _forwards(self, wanted: bytes) -> Iterator[bytes]:
        return (text.encode() for text in self._texts("ASC", wanted.decode()))

    def _backwards(self) -> Iterator[bytes]:
        return (text.encode() for text in self._texts("DESC"))

    def _texts(self, order: LiteralString, text: str = "") -> Iterator[str]:
        """Yield the records that hold a text, as they are stored, by their numbers."""
        beyond, at, page = (">", 0, PAGE) if order == "ASC" else ("<", 2**63 - 1, _FIRST_PAGE)
        query = f"{_SELECT_RECORDS} AND number {beyond} %(at)s ORDER BY number {order} LIMIT %(page)s"
        while rows := self._database.read(query, {**self._of, "text": text, "at": at, "page": page}):
            yield from (record for _, record in rows)
            at, page = rows[-1][0], min(2 * page, PAGE)


def names_of(identities: Iterable[Sequence[str]]) -> list[str]:
    """Return names as the table has them."""
    return sorted({as_json(identity) for identity in identities})
