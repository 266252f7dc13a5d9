"""The tables of the passage index: what is stored for each file, and the queries over it.

A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Every function that
takes a connection works inside its open transaction. Credentials are blacked out once, before anything of a file is
stored. The text of a passage is not stored but read from git again, with the lines in place that were changed for it.
The full-text table holds only words and its rows are never deleted: an id whose file is gone is ignored.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from bot.adapters.search.name_rows import phrase, put_names
from bot.agent.git.git_repo import TreeEntry, is_pointer
from bot.domain.search.definitions import definitions_in
from bot.domain.search.files import file_lines, is_indexed, is_prose, may_hold_text, path_weight
from bot.domain.search.passages import Chunk, IndexGaps, split_into_chunks
from bot.domain.search.settings import settings_in
from bot.domain.search.tokens import extra_words
from bot.domain.secrets import redact_lines

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000
MIN_WEIGHT_OF_SETTINGS: Final = 0.5
"""A file that counts less, such as a test, is not asked what it gives a value to."""

FILE_BITS: Final = 16
"""Bits of a passage's id for its number in its file; the file's number stands above them."""

_GAPS: Final = ("unreadable", "lfs", "submodules", "oversized", "history")
_COLUMN_WEIGHTS: Final = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def is_oversized(entry: TreeEntry) -> bool:
    """Whether a file that might hold an answer is not read because of its size alone."""
    return entry.size > MAX_FILE_BYTES and may_hold_text(entry.path)


def shown_lines(content: bytes, changed: str) -> list[str]:
    """Return the lines of a file as they may be shown; `changed` is what the index says of the file."""
    lines, other = _text_lines(content), json.loads(changed)
    return [other.get(str(at), line) for at, line in enumerate(lines)] if other else lines


def _text_lines(content: bytes) -> list[str]:
    is_shown = content and len(content) <= MAX_FILE_BYTES and not is_pointer(content)
    lines = (file_lines(content) or []) if is_shown else []
    return [] if _is_minified(lines) else lines


def _is_minified(lines: Sequence[str]) -> bool:
    """Whether most of a file stands in long lines; source may hold one, such as a table of colors."""
    in_long = sum(len(line) for line in lines if len(line) > MAX_LINE_CHARS)
    return 2 * in_long > sum(map(len, lines))


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


def put_file(connection: sqlite3.Connection, path: str, blob: str, content: bytes | None) -> None:
    """Store a file in place of what it was; as skipped where nothing of it may be found, or it was not read."""
    found = _text_lines(content) if content else []
    shown = redact_lines(found)
    lines = [line if len(line) <= MAX_LINE_CHARS else "" for line in shown]
    defined = definitions_in(path, lines)
    chunks = split_into_chunks(lines, defined, prose=is_prose(path))
    changed = {at: text for at, text in enumerate(shown) if text != found[at]}
    spans = [(one.start, one.end) for one in chunks]
    row = connection.execute(
        "INSERT OR REPLACE INTO file (path, blob, skipped, changed, passages, spans) VALUES (?, ?, ?, ?, ?, ?)",
        (path, blob, not found and content != b"", json.dumps(changed), len(spans), json.dumps(spans)),
    )
    number = row.lastrowid or 0
    connection.executemany(
        "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
        [((number << FILE_BITS) + at, *_searched(path, lines, one)) for at, one in enumerate(chunks)],
    )
    has_settings = path_weight(path, "") >= MIN_WEIGHT_OF_SETTINGS
    put_names(connection, number, defined, settings_in(path, lines, defined) if has_settings else ())


def _searched(path: str, lines: Sequence[str], one: Chunk) -> tuple[str, str, str, str]:
    """Return what a passage is found by: what it defines, its path, its text; parts of names and what encloses it."""
    named, scope, text = " ".join(one.names), " ".join(one.scope), "\n".join(lines[one.start - 1 : one.end])
    return f"{named} {extra_words(named)}", path, text, f"{extra_words(text)} {scope} {extra_words(scope)}"


def count_passages(connection: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(connection.execute("SELECT total(passages) FROM file").fetchone()[0])


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
    start, end = json.loads(spans)[passage & ((1 << FILE_BITS) - 1)]
    return Place(path, blob, start, end, changed)


def file_at(connection: sqlite3.Connection, path: str) -> Place | None:
    """Return a searched file as one place; None where there is none."""
    row = connection.execute("SELECT path, blob, 1, 0, changed FROM file WHERE path = ? AND NOT skipped", (path,))
    found = row.fetchone()
    return Place(*found) if found else None
