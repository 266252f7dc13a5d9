"""The tables of the passage index: what is stored for each file, and the queries over it.

A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out before anything of a file is stored or shown. Every function that takes a connection works inside its open
transaction. The text of a passage is not stored but read from git again. The full-text table holds only words and its
rows are never deleted: an id whose file is gone is ignored.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot.adapters.search.name_rows import put_names
from bot.agent.git.git_repo import TreeEntry, is_pointer, split_lines
from bot.domain.search.definitions import Defined, definitions_in
from bot.domain.search.files import is_indexed, is_prose, may_hold_text
from bot.domain.search.passages import Chunk, IndexGaps, split_into_chunks
from bot.domain.search.settings import Assigned, settings_in
from bot.domain.search.tokens import extra_words
from bot.domain.secrets import redact_lines

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000
_SPAN = struct.Struct("<II")
SPAN_BYTES = _SPAN.size

FILE_BITS: Final = 16
"""Bits of a passage's id for its number in its file; the file's number stands above them."""

_GAPS: Final = ("unreadable", "lfs", "submodules", "oversized", "history")
_COLUMN_WEIGHTS: Final = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts
_STATE: Final = "INSERT OR REPLACE INTO state VALUES (?, ?)"


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
    """One file as it was read; `skipped` if nothing of it may be found, `is_clean` if it holds no credential."""

    path: str
    blob: str
    skipped: bool
    is_clean: bool = False
    passages: Sequence[StoredPassage] = ()
    defined: Sequence[Defined] = ()
    assigned: Sequence[Assigned] = ()


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def is_oversized(entry: TreeEntry) -> bool:
    """Whether a file that might hold an answer is not read because of its size alone."""
    return entry.size > MAX_FILE_BYTES and may_hold_text(entry.path)


def shown_lines(content: bytes, *, is_clean: bool) -> list[str]:
    """Return the lines of a file as they may be shown; none of one that is binary, minified or kept in Git LFS.

    `is_clean` says that the content was looked through for credentials before, and none was found.
    """
    lines = _text_lines(content)
    return lines if is_clean else redact_lines(lines)


def _text_lines(content: bytes) -> list[str]:
    is_shown = content and len(content) <= MAX_FILE_BYTES and not is_pointer(content)
    lines = split_lines(content) if is_shown else []
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
    chunks = split_into_chunks(lines, prose=is_prose(path))
    passages = [_stored(lines, one) for one in chunks]
    defined = definitions_in(path, lines)
    return StoredFile(path, blob, False, shown == found, passages, defined, settings_in(path, lines, defined))


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


class Progress(NamedTuple):
    """How many files of the commit that is being indexed are done, and how many there are."""

    done: int
    total: int


class Place(NamedTuple):
    """Where a passage stands: lines `start` to `end` of a blob, which is clean if it holds no credential."""

    path: str
    blob: str
    start: int
    end: int
    is_clean: bool


def commit_of(connection: sqlite3.Connection) -> str | None:
    """Return the commit the rows are of, or None while they are of none."""
    return _state(connection, "commit")


def target_of(connection: sqlite3.Connection) -> str | None:
    """Return the commit that the rows are being brought up to, or that they are of; None before the first batch."""
    return _state(connection, "target")


def progress(connection: sqlite3.Connection) -> Progress:
    """Return how far the rows are."""
    return Progress(_number(connection, "done"), _number(connection, "total"))


def set_target(connection: sqlite3.Connection, commit: str, how_far: Progress) -> None:
    """Say which commit the rows are brought up to; until `finish` they are of none."""
    connection.execute(_STATE, ("commit", None))
    connection.execute(_STATE, ("target", commit))
    _set_progress(connection, how_far)


def _set_progress(connection: sqlite3.Connection, how_far: Progress) -> None:
    connection.execute(_STATE, ("done", str(how_far.done)))
    connection.execute(_STATE, ("total", str(how_far.total)))


def advance(connection: sqlite3.Connection, files: int) -> None:
    """Count files as done."""
    how_far = progress(connection)
    _set_progress(connection, how_far._replace(done=how_far.done + files))


def finish(connection: sqlite3.Connection, commit: str) -> None:
    """Say that the rows are of a commit, all of them."""
    connection.execute(_STATE, ("commit", commit))


def commits_of(connection: sqlite3.Connection) -> str | None:
    """Return the commit up to which messages are stored."""
    return _state(connection, "history")


def set_commits_of(connection: sqlite3.Connection, commit: str | None) -> None:
    """Say up to which commit messages are stored."""
    connection.execute(_STATE, ("history", commit))


def _state(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _number(connection: sqlite3.Connection, name: str) -> int:
    return int(_state(connection, name) or 0)


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many files are found and how many skipped."""
    found, skipped = connection.execute("SELECT count(*) - sum(skipped), sum(skipped) FROM file").fetchone()
    return found or 0, skipped or 0


def put_file(connection: sqlite3.Connection, file: StoredFile) -> None:
    """Store a file's passages in place of those it had."""
    forget(connection, file.path)
    row = connection.execute(
        "INSERT INTO file (path, blob, skipped, clean, spans) VALUES (?, ?, ?, ?, ?)",
        (file.path, file.blob, file.skipped, file.is_clean, _pack_spans(file.passages)),
    )
    number = row.lastrowid or 0
    first = number << FILE_BITS
    connection.executemany(
        "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
        [(first + at, one.names, file.path, one.text, one.parts) for at, one in enumerate(file.passages)],
    )
    put_names(connection, number, file.defined, file.assigned)
    _count(connection, "passages", len(file.passages))


def forget(connection: sqlite3.Connection, path: str) -> None:
    """Remove a file; the words of its passages stay, and nothing finds them."""
    row = connection.execute("SELECT length(spans) FROM file WHERE path = ?", (path,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM file WHERE path = ?", (path,))
        _count(connection, "gone", row[0] // SPAN_BYTES)


def forget_others(connection: sqlite3.Connection, kept: str) -> None:
    """Remove every file whose path the query `kept` does not return."""
    others = f"FROM file WHERE path NOT IN ({kept})"
    gone = connection.execute(f"SELECT total(length(spans)) {others}").fetchone()[0]
    connection.execute(f"DELETE {others}")
    _count(connection, "gone", int(gone) // SPAN_BYTES)


def _count(connection: sqlite3.Connection, name: str, more: int) -> None:
    if more:
        connection.execute(_STATE, (name, str(_number(connection, name) + more)))


def count_passages(connection: sqlite3.Connection) -> int:
    """Return how many passages the full-text table holds, those of files that are gone among them."""
    return _number(connection, "passages")


def is_worn(connection: sqlite3.Connection, share: float) -> bool:
    """Whether more than a share of the passages is of files that are gone."""
    return _number(connection, "gone") > share * count_passages(connection)


def add_gaps(connection: sqlite3.Connection, gaps: IndexGaps) -> None:
    """Keep which files are not searched."""
    for kind in _GAPS:
        connection.executemany("INSERT OR REPLACE INTO gap VALUES (?, ?)", [(p, kind) for p in getattr(gaps, kind)])


def gaps(connection: sqlite3.Connection) -> IndexGaps:
    """Return which files are not searched, those among them that are still to be indexed."""
    found: dict[str, list[str]] = {kind: [] for kind in _GAPS}
    for path, kind in connection.execute("SELECT path, kind FROM gap ORDER BY path"):
        found[kind].append(path)
    how_far = progress(connection)
    return IndexGaps(
        **{kind: tuple(paths) for kind, paths in found.items()},
        waiting=how_far.total - how_far.done,
        total=how_far.total if how_far.done < how_far.total else 0,
    )


def count_matches(connection: sqlite3.Connection, words: Sequence[str], at_most: int) -> int:
    """Return in how many passages the words stand in sequence, `at_most` where there are more."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (phrase(words), at_most)
    )
    return int(found.fetchone()[0])


def scores(connection: sqlite3.Connection, query: str) -> dict[int, float]:
    """Return the BM25 score of every passage that a query of FTS5 matches."""
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {_COLUMN_WEIGHTS}) FROM words WHERE words MATCH ?",  # noqa: S608 - constants only
        (query,),
    )
    return dict(rows)


def best(connection: sqlite3.Connection, query: str, limit: int) -> dict[int, float]:
    """Return the passages with the highest BM25 scores, best first."""
    found = connection.execute(
        "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ?",
        (query, f"bm25({_COLUMN_WEIGHTS})", limit),
    )
    return dict(found)


def holding(connection: sqlite3.Connection, query: str, passages: Sequence[int]) -> list[int]:
    """Return those of some passages that a query of FTS5 matches.

    All matches are gone through; the sign keeps SQLite from looking each passage up, which takes longer.
    """
    marks = ",".join("?" * len(passages))
    found = connection.execute(
        f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({marks})",  # noqa: S608 - constants only
        (query, *passages),
    )
    return [passage for (passage,) in found]


def paths(connection: sqlite3.Connection, files: Iterable[int]) -> dict[int, str]:
    """Return the path of each file that is not gone, by its number."""
    asked = sorted(set(files))
    found: dict[int, str] = {}
    for start in range(0, len(asked), 500):
        part = asked[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(connection.execute(f"SELECT id, path FROM file WHERE id IN ({marks})", part))  # noqa: S608
    return found


def place(connection: sqlite3.Connection, passage: int) -> Place:
    """Return where a passage stands."""
    row = connection.execute("SELECT path, blob, spans, clean FROM file WHERE id = ?", (passage >> FILE_BITS,))
    path, blob, spans, is_clean = row.fetchone()
    start, end = _unpack_spans(spans)[passage & ((1 << FILE_BITS) - 1)]
    return Place(path, blob, start, end, bool(is_clean))


def phrase(words: Sequence[str]) -> str:
    """Return an FTS5 string: inside quotes nothing is syntax but the quote itself."""
    return '"' + " ".join(words).replace('"', '""') + '"'
