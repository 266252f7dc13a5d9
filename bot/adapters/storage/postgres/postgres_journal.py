"""Port Journal over a table: a row for each record, numbered without a gap in the order in which they become visible.

A line of a file that holds no record is a row with a JSON string of its bytes, so that it is none here either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString

from bot.adapters.storage.journal_lines import JournalLines, record_in
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import as_json
from bot.errors import StoreError
from bot.ports.storage import Names

PAGE: Final = 500
"""How many records one statement reads at most; nothing is held open between two."""

_FIRST_PAGE: Final = 20
"""Whoever reads back often stops early; each page is twice the one before."""

_SELECT: Final = """
    SELECT number, record::text FROM triage_records
    WHERE namespace = %(namespace)s AND journal = %(journal)s AND position(%(text)s IN record::text) > 0
"""
_RESTORE: Final = """
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
            connection.cursor().executemany(_RESTORE, rows())
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
        query = f"{_SELECT} AND number {beyond} %(at)s ORDER BY number {order} LIMIT %(page)s"
        while rows := self._database.read(query, {**self._of, "text": text, "at": at, "page": page}):
            yield from (record for _, record in rows)
            at, page = rows[-1][0], min(2 * page, PAGE)


def names_of(identities: Iterable[Sequence[str]]) -> list[str]:
    """Return names as the table has them."""
    return sorted({as_json(identity) for identity in identities})
