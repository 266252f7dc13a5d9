"""The tables of the passage index: what is stored for each file, and the queries over it.

A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Every function that
takes a connection works inside its open transaction. Credentials are blacked out once, before anything of a file is
stored. The text of a passage is not stored but read from git again, with the lines in place that were changed for it.
The full-text table holds only words and its rows are never deleted: an id whose file is gone is ignored.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bot.adapters.search.name_rows import phrase, put_names
from bot.agent.git.git_repo import TreeEntry, is_pointer
from bot.domain.search.definitions import Defined, definitions_in
from bot.domain.search.files import file_lines, is_indexed, is_prose, may_hold_text, path_weight
from bot.domain.search.passages import Chunk, IndexGaps, split_into_chunks
from bot.domain.search.settings import Assigned, settings_in
from bot.domain.search.tokens import extra_words
from bot.domain.secrets import redact_lines

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000
MIN_WEIGHT_OF_SETTINGS: Final = 0.5
"""A file that counts less, such as a test, is not asked what it gives a value to."""

_SPAN = struct.Struct("<II")

FILE_BITS: Final = 16
"""Bits of a passage's id for its number in its file; the file's number stands above them."""

_GAPS: Final = ("unreadable", "lfs", "submodules", "oversized", "history")
_COLUMN_WEIGHTS: Final = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """Lines `start` to `end` of a file, the names they stand under, their text, its extra words."""

    start: int
    end: int
    names: str
    text: str
    parts: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as it was read; `skipped` if nothing of it may be found.

    `changed` has the lines (counted from 0) that are not shown as they are.
    """

    path: str
    blob: str
    skipped: bool
    changed: Mapping[int, str] = field(default_factory=dict)
    passages: Sequence[StoredPassage] = ()
    defined: Sequence[Defined] = ()
    assigned: Sequence[Assigned] = ()


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def is_oversized(entry: TreeEntry) -> bool:
    """Whether a file that might hold an answer is not read because of its size alone."""
    return entry.size > MAX_FILE_BYTES and may_hold_text(entry.path)


def shown_lines(content: bytes, changed: str) -> list[str]:
    """Return the lines of a file as they may be shown; `changed` is what the index says of the file."""
    lines = file_lines(content) or []
    for at, text in json.loads(changed).items() if changed else ():
        lines[int(at)] = text
    return lines


def _text_lines(content: bytes) -> list[str]:
    is_shown = content and len(content) <= MAX_FILE_BYTES and not is_pointer(content)
    lines = (file_lines(content) or []) if is_shown else []
    return [] if _is_minified(lines) else lines


def _is_minified(lines: Sequence[str]) -> bool:
    """Whether most of a file stands in long lines; source may hold one, such as a table of colors."""
    in_long = sum(len(line) for line in lines if len(line) > MAX_LINE_CHARS)
    return 2 * in_long > sum(map(len, lines))


def read_file(path: str, blob: str, content: bytes | None) -> StoredFile:
    """Return the passages of one file, or the file as skipped; `content` is None where it was not read."""
    found = _text_lines(content) if content else []
    if not found:
        return StoredFile(path, blob, skipped=content != b"")
    shown = redact_lines(found)
    lines = [line if len(line) <= MAX_LINE_CHARS else "" for line in shown]
    defined = definitions_in(path, lines)
    passages = [_stored(lines, one) for one in split_into_chunks(lines, defined, prose=is_prose(path))]
    changed = {at: text for at, (text, before) in enumerate(zip(shown, found, strict=True)) if text != before}
    assigned = settings_in(path, lines, defined) if path_weight(path, "") >= MIN_WEIGHT_OF_SETTINGS else ()
    return StoredFile(path, blob, False, changed, passages, defined, assigned)


def _stored(lines: Sequence[str], chunk: Chunk) -> StoredPassage:
    text = "\n".join(lines[chunk.start - 1 : chunk.end])
    named = " ".join(chunk.names)
    return StoredPassage(chunk.start, chunk.end, f"{named} {extra_words(named)}", text, extra_words(text))


def _pack_spans(passages: Sequence[StoredPassage]) -> bytes:
    """Return the lines of a file's passages as bytes.

    >>> _unpack_spans(_pack_spans([StoredPassage(1, 9, "", "", ""), StoredPassage(11, 40, "", "", "")]))
    [(1, 9), (11, 40)]
    """
    return b"".join(_SPAN.pack(one.start, one.end) for one in passages)


def _unpack_spans(packed: bytes) -> list[tuple[int, int]]:
    """Return first and last line of each passage of a file."""
    return [(start, end) for start, end in _SPAN.iter_unpack(packed)]


def holds_any(content: bytes, secrets: Collection[bytes]) -> bool:
    """Whether a file holds one of the process's own secrets."""
    return any(secret in content for secret in secrets)


class Place(NamedTuple):
    """Where a passage stands: lines `start` to `end` of a blob, `changed` as `shown_lines` takes it."""

    path: str
    blob: str
    start: int
    end: int
    changed: str


def state(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the commit that the rows are of (`commit`), or brought up to (`target`), or whose messages are stored.

    The last is `history`; `total` is how many files the target has. None where nobody has said so.
    """
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def set_state(connection: sqlite3.Connection, **values: str | None) -> None:
    """Keep what `state` returns."""
    connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", values.items())


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many files are found and how many skipped."""
    found, skipped = connection.execute("SELECT count(*) - sum(skipped), sum(skipped) FROM file").fetchone()
    return found or 0, skipped or 0


def put_file(connection: sqlite3.Connection, file: StoredFile) -> None:
    """Store a file's passages in place of those it had."""
    changed = json.dumps(file.changed) if file.changed else ""
    row = connection.execute(
        "INSERT OR REPLACE INTO file (path, blob, skipped, changed, spans) VALUES (?, ?, ?, ?, ?)",
        (file.path, file.blob, file.skipped, changed, _pack_spans(file.passages)),
    )
    number = row.lastrowid or 0
    first = number << FILE_BITS
    connection.executemany(
        "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
        [(first + at, one.names, file.path, one.text, one.parts) for at, one in enumerate(file.passages)],
    )
    put_names(connection, number, file.defined, file.assigned)


def count_passages(connection: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(connection.execute("SELECT total(length(spans)) FROM file").fetchone()[0]) // _SPAN.size


def is_worn(connection: sqlite3.Connection) -> bool:
    """Whether most of the files that were ever stored are gone."""
    return bool(connection.execute("SELECT max(id) > 2 * count(*) FROM file").fetchone()[0])


def add_gaps(connection: sqlite3.Connection, gaps: IndexGaps) -> None:
    """Keep which files are not searched."""
    for kind in _GAPS:
        connection.executemany("INSERT OR REPLACE INTO gap VALUES (?, ?)", [(p, kind) for p in getattr(gaps, kind)])


def gaps(connection: sqlite3.Connection) -> IndexGaps:
    """Return which files are not searched, those among them that are still to be indexed."""
    found: dict[str, list[str]] = {kind: [] for kind in _GAPS}
    for path, kind in connection.execute("SELECT path, kind FROM gap ORDER BY path"):
        found[kind].append(path)
    total = int(state(connection, "total") or 0)
    waiting = total - connection.execute("SELECT count(*) FROM file").fetchone()[0]
    lists = {kind: tuple(paths) for kind, paths in found.items()}
    return IndexGaps(**lists, waiting=waiting, total=total if waiting else 0)


def count_matches(connection: sqlite3.Connection, words: str, at_most: int) -> int:
    """Return in how many passages the words stand in sequence, `at_most` where there are more."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (phrase(words), at_most)
    )
    return int(found.fetchone()[0])


def best(connection: sqlite3.Connection, query: str, limit: int) -> dict[int, float]:
    """Return the passages with the highest BM25 scores, best first; of an empty query none."""
    if not query:
        return {}
    found = connection.execute(
        "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ?",
        (query, f"bm25({_COLUMN_WEIGHTS})", limit),
    )
    return dict(found)


def holding(connection: sqlite3.Connection, word: str, passages: Iterable[int]) -> frozenset[int]:
    """Return those of some passages that hold a word.

    All that hold it are gone through; the sign keeps SQLite from looking each passage up, which takes longer.
    """
    asked = list(passages)
    found = connection.execute(
        f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({','.join('?' * len(asked))})",  # noqa: S608
        (phrase(word), *asked),
    )
    return frozenset(passage for (passage,) in found)


def paths(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, str]:
    """Return the path of each passage whose file is not gone."""
    found = (
        (one, connection.execute("SELECT path FROM file WHERE id = ?", (one >> FILE_BITS,)).fetchone())
        for one in passages
    )
    return {one: row[0] for one, row in found if row}


def place(connection: sqlite3.Connection, passage: int) -> Place:
    """Return where a passage stands."""
    row = connection.execute("SELECT path, blob, spans, changed FROM file WHERE id = ?", (passage >> FILE_BITS,))
    path, blob, spans, changed = row.fetchone()
    start, end = _unpack_spans(spans)[passage & ((1 << FILE_BITS) - 1)]
    return Place(path, blob, start, end, changed)


def file_at(connection: sqlite3.Connection, path: str) -> Place | None:
    """Return a searched file as one place; None where there is none."""
    row = connection.execute("SELECT path, blob, 1, 0, changed FROM file WHERE path = ? AND NOT skipped", (path,))
    found = row.fetchone()
    return Place(*found) if found else None
