"""The SQLite file behind the passage index: one row a file, one row a passage, and FTS5 over the passages.

It is a cache of committed text and nothing else: when it is damaged or of another version it is deleted and built
again. `commit` is set only while the rows are exactly that commit's; a killed build leaves it unset and its finished
batches in place.

From a blob to what the index stores of it: its passages, or the note that nothing of it may be found.

Pure. A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out before anything of a file is stored.

The rows of the passage index: what is stored for a file, and what is asked of them.

Every function works inside the transaction of the connection it is given.
"""

from __future__ import annotations

import contextlib
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from bot.agent.git.git_repo import TreeEntry, is_pointer, split_lines
from bot.agent.tools.tool_output import redact_lines
from bot.domain.credentials.secret_forms import VERSION as CREDENTIAL_FORMS
from bot.domain.search.chunks import Chunk, split_into_chunks
from bot.domain.search.definitions import Defined, Definition, DefinitionKind, definitions_in
from bot.domain.search.file_kinds import is_indexed, is_prose
from bot.domain.search.index_gaps import IndexGaps
from bot.domain.search.tokens import extra_words
from bot.errors import ConfigError, DiskRefused, StoreError

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2_000
MAX_DEFINITIONS = 2_000
_LINES = 64
"""More lines than a passage has: with its id they make up the id of a definition."""
_GAPS = ("unreadable", "lfs", "submodules")


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """Lines `start` to `end` of a file, the names they stand under, their text, its extra words, what they define."""

    start: int
    end: int
    names: str
    text: str
    parts: str
    defined: Sequence[Defined] = ()


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as it was read; `skipped` if nothing of it may be found."""

    path: str
    blob: str
    skipped: bool
    passages: Sequence[StoredPassage] = ()


def is_readable(entry: TreeEntry) -> bool:
    """Whether the blob of a file may be read at all, by its path and size."""
    return is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES and not entry.is_missing


def read_file(entry: TreeEntry, content: bytes | None) -> StoredFile:
    """Return the passages of one file, or the file as skipped: not read, binary, minified or kept in Git LFS."""
    is_shown = content and len(content) <= MAX_FILE_BYTES and not is_pointer(content)
    lines = split_lines(content) if content and is_shown else []
    if not lines or max(map(len, lines)) > MAX_LINE_CHARS:
        return StoredFile(entry.path, entry.blob, skipped=content != b"")
    lines = redact_lines(lines)
    chunks = split_into_chunks(lines, prose=is_prose(entry.path))
    defined = definitions_in(entry.path, lines)
    return StoredFile(entry.path, entry.blob, False, [_stored(lines, one, defined) for one in chunks])


def _stored(lines: Sequence[str], chunk: Chunk, defined: Sequence[Defined]) -> StoredPassage:
    text = "\n".join(lines[chunk.start - 1 : chunk.end])
    named = " ".join(chunk.names)
    first, last = (bisect_left(defined, line, key=attrgetter("line")) for line in (chunk.start, chunk.end + 1))
    return StoredPassage(
        chunk.start, chunk.end, f"{named} {extra_words(named)}", text, extra_words(text), defined[first:last]
    )


COLUMN_WEIGHTS = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts


def commit_of(connection: sqlite3.Connection) -> str | None:
    """Return the commit the rows are of, or None while they are of none."""
    row = connection.execute("SELECT value FROM state WHERE name = 'commit'").fetchone()
    return row[0] if row else None


def set_commit(connection: sqlite3.Connection, commit: str | None) -> None:
    """Say which commit the rows are of; None before they change in more than one transaction."""
    connection.execute("INSERT OR REPLACE INTO state VALUES ('commit', ?)", (commit,))


def blobs(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the blob id of every known file by its path."""
    return dict(connection.execute("SELECT path, blob FROM file"))


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many files are found and how many skipped."""
    found, skipped = connection.execute("SELECT count(*) - sum(skipped), sum(skipped) FROM file").fetchone()
    return found or 0, skipped or 0


def put_file(connection: sqlite3.Connection, file: StoredFile) -> None:
    """Store a file's passages in place of those it had."""
    forget(connection, file.path)
    connection.execute("INSERT INTO file VALUES (?, ?, ?)", (file.path, file.blob, file.skipped))
    for one in file.passages:
        place = connection.execute(
            "INSERT INTO passage (path, start, end) VALUES (?, ?, ?)", (file.path, one.start, one.end)
        )
        connection.execute(
            "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
            (place.lastrowid, one.names, file.path, one.text, one.parts),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?)",
            [
                ((place.lastrowid or 0) * _LINES + each.line - one.start, each.name, each.scope, each.kind)
                for each in one.defined
            ],
        )


def forget(connection: sqlite3.Connection, path: str) -> None:
    """Remove a file, its passages and what they define."""
    passages = connection.execute("SELECT id FROM passage WHERE path = ?", (path,)).fetchall()
    connection.executemany(
        "DELETE FROM definition WHERE id BETWEEN ? AND ?",
        [(one * _LINES, one * _LINES + _LINES - 1) for (one,) in passages],
    )
    connection.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE path = ?)", (path,))
    connection.execute("DELETE FROM passage WHERE path = ?", (path,))
    connection.execute("DELETE FROM file WHERE path = ?", (path,))


def begin(connection: sqlite3.Connection, gone: Iterable[str], gaps: IndexGaps) -> None:
    """Remove the files that are not in a commit, and keep its gaps in place of those of the commit before."""
    for path in gone:
        forget(connection, path)
    connection.execute("DELETE FROM gap")
    add_gaps(connection, gaps)


def add_gaps(connection: sqlite3.Connection, gaps: IndexGaps) -> None:
    """Keep which files are not searched."""
    for kind in _GAPS:
        connection.executemany("INSERT OR REPLACE INTO gap VALUES (?, ?)", [(p, kind) for p in getattr(gaps, kind)])


def gaps(connection: sqlite3.Connection) -> IndexGaps:
    """Return which files are not searched."""
    found: dict[str, list[str]] = {kind: [] for kind in _GAPS}
    for path, kind in connection.execute("SELECT path, kind FROM gap ORDER BY path"):
        found[kind].append(path)
    return IndexGaps(**{kind: tuple(paths) for kind, paths in found.items()})


def count_passages(connection: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(connection.execute("SELECT count(*) FROM passage").fetchone()[0])


def count_matches(connection: sqlite3.Connection, words: Sequence[str]) -> int:
    """Return in how many passages the words stand in sequence."""
    return int(connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (_phrase(words),)).fetchone()[0])


def match(connection: sqlite3.Connection, words: Sequence[str]) -> dict[int, float]:
    """Return the BM25 score of every passage in which the words stand in sequence."""
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {COLUMN_WEIGHTS}) FROM words WHERE words MATCH ?",  # noqa: S608 - constants only
        (_phrase(words),),
    )
    return dict(rows)


def paths(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, str]:
    """Return the path of each passage."""
    return {
        passage: connection.execute("SELECT path FROM passage WHERE id = ?", (passage,)).fetchone()[0]
        for passage in passages
    }


def place(connection: sqlite3.Connection, passage: int) -> tuple[str, int, int, str]:
    """Return the path, first line, last line and text of a passage."""
    row = connection.execute(
        "SELECT passage.path, start, end, body FROM passage JOIN words ON words.rowid = id WHERE id = ?", (passage,)
    )
    path, start, end, text = row.fetchone()
    return path, start, end, text


def definitions(connection: sqlite3.Connection, name: str) -> list[Definition]:
    """Return the first MAX_DEFINITIONS definitions of a name, however it is capitalised, in the order of the index."""
    found = connection.execute(
        "SELECT definition.name, scope, kind, path, start + definition.id % ? FROM definition"
        " JOIN passage ON passage.id = definition.id / ? WHERE definition.name = ? COLLATE NOCASE"
        " ORDER BY definition.id LIMIT ?",
        (_LINES, _LINES, name, MAX_DEFINITIONS),
    )
    return [
        Definition(name=known, scope=scope, path=path, line=line, kind=DefinitionKind(kind))
        for known, scope, kind, path, line in found
    ]


def places_called(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the searched files a name means (a path, its end, a file name without its ending), then the folders.

    A folder ends in a slash; each kind is in the order of the paths.
    """
    end = f"/{name.strip('/').lower()}"
    found = connection.execute(
        "SELECT path FROM file WHERE NOT skipped AND instr('/' || lower(path), ?) ORDER BY path", (end,)
    )
    paths = [path for (path,) in found]
    files = [path for path in paths if _is_called(f"/{path.lower()}", end)]
    folders = (
        path[: f"/{path.lower()}".find(f"{end}/") + len(end)] for path in paths if f"{end}/" in f"/{path.lower()}"
    )
    return [*files, *dict.fromkeys(folders)]


def _is_called(path: str, end: str) -> bool:
    return path.endswith(end) or path.rpartition(".")[0].endswith(end)


def _phrase(words: Sequence[str]) -> str:
    """Return an FTS5 string: inside quotes nothing is syntax but the quote itself."""
    return '"' + " ".join(words).replace('"', '""') + '"'


LAYOUT = 3
VERSION = LAYOUT + 1_000 * CREDENTIAL_FORMS
"""Of the rows: another layout, or other rules for what is blacked out, and the index is built anew."""
BUSY_S = 60
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OF_THE_DISK = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_SCHEMA = f"""
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE file (path TEXT PRIMARY KEY, blob TEXT NOT NULL, skipped INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE passage (id INTEGER PRIMARY KEY, path TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL);
CREATE TABLE gap (path TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX passage_path ON passage (path);
CREATE TABLE definition (
    id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL, scope TEXT NOT NULL, kind INTEGER NOT NULL
);
CREATE INDEX definition_name ON definition (name);
CREATE VIRTUAL TABLE words USING fts5 (names, path, body, parts, tokenize = 'porter unicode61');
PRAGMA user_version = {VERSION};
"""


class Damaged(Exception):
    """The file is no database of ours any more; delete it and build it again."""


class PassageStore:
    """A connection for each call, so that any thread and any process may use the same file."""

    def __init__(self, database: Path) -> None:
        self._database = database

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one transaction, committed at the end.

        Raises:
            Damaged: the file is corrupt or of another version.
            StoreError: the file cannot be read or written.
            ConfigError: this Python's SQLite has no FTS5.
        """
        try:
            self._database.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(
                sqlite3.connect(self._database, timeout=BUSY_S, isolation_level=None)
            ) as connection:
                _prepare(connection)
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _translated(error, self._database) from error
        except OSError as error:
            raise StoreError(
                f"index: cannot use {self._database}: {error.strerror}; check the folder's rights"
            ) from error

    def delete(self) -> None:
        """Remove the file, so that the next `open` starts an empty one."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._database}{suffix}").unlink(missing_ok=True)


def _prepare(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, VERSION):
        raise Damaged(f"version {version}")
    for statement in _SCHEMA.strip().split(";\n") if version == 0 else ():
        connection.execute(statement)
    connection.execute("COMMIT")


def _translated(error: sqlite3.Error, database: Path) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED or (code == sqlite3.SQLITE_ERROR and "no such table" in str(error)):
        return Damaged(str(error))
    if "no such module" in str(error):
        return ConfigError("index: this Python's SQLite has no FTS5; use python.org's or Debian's Python")
    kind = DiskRefused if code in _OF_THE_DISK else StoreError
    return kind(f"index: cannot use {database}; check the disk and the folder's rights, or delete the file")
