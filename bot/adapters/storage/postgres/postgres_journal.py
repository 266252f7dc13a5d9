"""Port Journal over a table: a row for each record, numbered without a gap in the order in which they become visible.

A place is `(0, number)`. Those in files begin with 1 or more, so one engine's places are Conflicts in the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString

from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import as_json
from bot.errors import StoreError
from bot.ports.storage import Names, Position

PAGE: Final = 500
"""How many records one statement reads; nothing is held open between two."""

_FIRST_PAGE: Final = 20
"""On the way back, whose reader often stops early; each page is twice the one before."""

_APPEND: Final = "SELECT triage_append(%s, %s, %s::json, %s)"
_FORWARDS: Final = """
    SELECT number, record::text FROM triage_records
    WHERE namespace = %(namespace)s AND journal = %(journal)s AND number > %(after)s
    AND position(%(containing)s IN record::text) > 0
    ORDER BY number LIMIT %(page)s
"""
_BACKWARDS: Final = """
    SELECT number, record::text FROM triage_records
    WHERE namespace = %(namespace)s AND journal = %(journal)s
    AND (%(before)s::bigint IS NULL OR number < %(before)s)
    ORDER BY number DESC LIMIT %(page)s
"""


class PostgresJournal:
    """One journal of a namespace."""

    def __init__(self, database: Database, namespace: str, name: str) -> None:
        self._database, self._namespace, self._name = database, namespace, name
        self.bad_lines = 0

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is committed."""
        if not self.append_once(record, ()):
            raise StoreError(f"the journal {self._name} has a record of the next number; see the server's log")

    def append_once(self, record: Mapping[str, Any], identities: Iterable[Sequence[str]]) -> bool:
        """Write a record unless one is there that is known by one of these names; False where it is.

        While another process is about to write a record, whoever appends waits until that one has committed.
        """
        given = [self._namespace, self._name, as_json(record), names_of(identities)]
        return self._database.write(_APPEND, given) == [(True,)]

    def records(self, *, last_bytes: int | None = None, containing: str = "") -> Iterator[dict[str, Any]]:
        """Yield every record, oldest first; with `last_bytes` those whose lines in a file would be so long in all."""
        self.bad_lines = 0
        wanted = as_json(containing)[1:-1]
        for _, text in self._after(0, containing=wanted) if last_bytes is None else self._tail(last_bytes):
            yield from self._read(text) if wanted in text else ()

    def newest_first(self) -> Iterator[dict[str, Any]]:
        """Yield every record, newest first."""
        self.bad_lines = 0
        for _, record in self._backwards():
            yield from self._read(record)

    def end(self) -> Position:
        """Return the place after the last record."""
        return 0, self._last()

    def require_readable(self) -> None:
        """Raise StoreError where the database does not answer."""
        self._last()

    def lines(self) -> Iterator[bytes]:
        """Yield every record as the line that it was in a file; one that was damaged there is a JSON string here."""
        for _, text in self._after(0):
            record = json.loads(text)
            if isinstance(record, str):
                yield record.encode("utf-8", "surrogateescape")
            else:
                yield text.replace("\n", " ").encode()

    def restore(self, lines: Iterable[bytes], names: Names) -> None:
        """Write lines into the empty journal, with the names of their records; raises StoreError."""
        number = 0
        with self._database.transaction() as connection:
            for number, line in enumerate(lines, 1):
                record = _record(line)
                text = as_json(line.decode("utf-8", "surrogateescape")) if record is None else as_json(record)
                connection.execute(
                    "INSERT INTO triage_records (namespace, journal, number, record) VALUES (%s, %s, %s, %s::json)",
                    [self._namespace, self._name, number, text],
                )
                if record is not None and (known := names_of(names(record))):
                    connection.execute(
                        "INSERT INTO triage_identities SELECT %s, %s, unnest(%s::text[]) ON CONFLICT DO NOTHING",
                        [self._namespace, self._name, known],
                    )
            connection.execute("INSERT INTO triage_journals VALUES (%s, %s, %s)", [self._namespace, self._name, number])

    def _after(self, number: int, *, containing: str = "") -> Iterator[tuple[int, str]]:
        while rows := self._select(_FORWARDS, after=number, containing=containing, page=PAGE):
            yield from rows
            number = rows[-1][0]

    def _tail(self, left: int) -> list[tuple[int, str]]:
        """Return the newest records, oldest first: those whose lines in a file would take so many bytes in all."""
        found: list[tuple[int, str]] = []
        for one in self._backwards():
            left -= len(one[1].encode()) + 1
            if left < 0:
                break
            found.append(one)
        return found[::-1]

    def _backwards(self) -> Iterator[tuple[int, str]]:
        before, page = None, _FIRST_PAGE
        while rows := self._select(_BACKWARDS, before=before, page=page):
            yield from rows
            before, page = rows[-1][0], min(2 * page, PAGE)

    def _last(self) -> int:
        rows = self._select("SELECT last FROM triage_journals WHERE namespace = %(namespace)s AND name = %(journal)s")
        return int(rows[0][0]) if rows else 0

    def _select(self, query: LiteralString, **given: Any) -> list[tuple[Any, ...]]:
        return self._database.read(query, {"namespace": self._namespace, "journal": self._name, **given})

    def _read(self, text: str) -> Iterator[dict[str, Any]]:
        record = json.loads(text)
        if isinstance(record, dict):
            yield record
        else:
            self.bad_lines += 1


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def names_of(identities: Iterable[Sequence[str]]) -> list[str]:
    """Return names as the table has them."""
    return sorted({as_json(identity) for identity in identities})
