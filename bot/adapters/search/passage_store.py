"""The SQLite file behind the passage index: one row a file, and FTS5 over the words of the passages.

It is a cache of committed text and nothing else: when it is damaged or of another version it is deleted and built
again. One process at a time brings it up to a commit (`building`); any number may read it meanwhile.

A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out once, before anything is stored. The text of a passage is not stored but read from git again, with the lines
in place that were changed for it; so is that of a commit message. The full-text tables hold only words and their rows
are never deleted: an id whose file is gone is ignored. What reads or writes a row works inside the connection's open
transaction.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from bot.adapters.storage.files.atomic_write import Stamp, create_private, file_stamp
from bot.agent.git.git_folder import is_pointer
from bot.agent.git.git_history import Commit
from bot.agent.git.git_repo import EntryKind, TreeEntry
from bot.domain.search.definitions import definitions_in
from bot.domain.search.files import file_lines, is_indexed, is_prose, may_hold_text
from bot.domain.search.passages import GAP_WORDS, Chunk, IndexGaps, split_into_chunks
from bot.domain.search.tokens import extra_words
from bot.domain.secret_forms import VERSION as CREDENTIAL_FORMS
from bot.domain.secrets import redact_lines
from bot.errors import ConfigError, DiskRefused, StoreError

MAX_FILE_BYTES: Final = 1_000_000
MAX_LINE_CHARS: Final = 2_000
MAX_MESSAGE_CHARS: Final = 1_000
"""Of a longer message the whole lines up to there; what follows is mostly a discussion that was copied."""

FILE_BITS: Final = 20
"""Bits of the id of a passage or definition for its number or line; the file's id stands above them."""

# `file.state`: waiting, searched or skipped, or the gap that it is. hashsize: the bytes of words that FTS5 holds before
# it writes them; automerge: the parts of the tables that it lets be. Its own choice of 1 MiB and 4 costs more merging.
SCHEMA: Final = """
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE file (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE NOT NULL, blob TEXT NOT NULL, size INTEGER NOT NULL,
    state TEXT NOT NULL, changed TEXT NOT NULL DEFAULT '{}', passages INTEGER NOT NULL DEFAULT 0, spans TEXT
);
CREATE INDEX file_state ON file (state);
CREATE VIRTUAL TABLE words USING fts5 (names, path, body, parts, tokenize = 'porter unicode61', content = '');
INSERT INTO words (words, rank) VALUES ('hashsize', 16777216), ('automerge', 16);
CREATE TABLE definition (
    name TEXT COLLATE NOCASE NOT NULL, id INTEGER NOT NULL, scope TEXT NOT NULL, kind INTEGER NOT NULL,
    last INTEGER NOT NULL, PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT UNIQUE COLLATE NOCASE NOT NULL);
CREATE VIRTUAL TABLE grams USING fts5 (text, tokenize = 'trigram', content = '');
CREATE TRIGGER name_grams AFTER INSERT ON name
BEGIN INSERT INTO grams (rowid, text) VALUES (new.id, ' ' || new.text || ' '); END;
CREATE TABLE made (id INTEGER PRIMARY KEY, sha BLOB NOT NULL, at INTEGER NOT NULL);
CREATE VIRTUAL TABLE message USING fts5 (subject, body, tokenize = 'porter unicode61', content = '');
"""


def state(connection: sqlite3.Connection, name: str) -> str | None:
    """Return what is known of the whole index: `commit` (None while it is not finished), `target`, `history`."""
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def set_state(connection: sqlite3.Connection, **values: str | None) -> None:
    """Keep what `state` returns."""
    connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", values.items())


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many files are in each state."""
    return dict(connection.execute("SELECT state, count(*) FROM file GROUP BY state"))


def gaps(connection: sqlite3.Connection) -> IndexGaps:
    """Return which files are not searched, those among them that are still to be indexed."""
    query = "SELECT path FROM file WHERE state = ? ORDER BY path"
    lists = {kind: tuple(path for (path,) in connection.execute(query, (kind,))) for kind in GAP_WORDS}
    whole = state(connection, "commit")
    if whole is not None and whole != state(connection, "history"):
        lists["history"] = (whole[:10],)
    files = counts(connection)
    waiting = files.get("waiting", 0)
    return IndexGaps(**lists, waiting=waiting, total=sum(files.values()) if waiting else 0)


def first_state(entry: TreeEntry) -> str:
    """Return the state of a file or submodule of which only the name and size are known."""
    if entry.kind is EntryKind.SUBMODULE:
        return "submodules"
    if entry.is_missing or is_oversized(entry):
        gap = "unreadable" if entry.is_missing else "oversized"
        return gap if may_hold_text(entry.path) else "skipped"
    return "waiting" if is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES else "skipped"


def is_oversized(entry: TreeEntry) -> bool:
    """Whether a file that might hold an answer is not read because of its size alone."""
    return entry.size > MAX_FILE_BYTES and may_hold_text(entry.path)


def shown_lines(content: bytes, changed: str, secrets: Collection[str]) -> list[str]:
    """Return the lines of a file as they may be shown; `changed` is what the index says of the file."""
    lines, other = _text_lines(content, secrets), json.loads(changed)
    return [other.get(str(at), line) for at, line in enumerate(lines)] if other else lines


def _text_lines(content: bytes, secrets: Collection[str]) -> list[str]:
    """Return the lines of a text a human wrote: not most of it in long lines, though it may hold one.

    None of a file that holds one of `secrets`, the process's own.
    """
    if len(content) > MAX_FILE_BYTES or any(secret.encode() in content for secret in secrets):
        return []
    lines = file_lines(content) or []
    in_long = sum(len(line) for line in lines if len(line) > MAX_LINE_CHARS)
    return lines if 2 * in_long <= sum(map(len, lines)) else []


def put_file(
    connection: sqlite3.Connection, file: int, path: str, content: bytes | None, secrets: Collection[str]
) -> None:
    """Store what a waiting file holds; of one that cannot be read, or whose text is elsewhere, only that."""
    gap = "unreadable" if content is None else "lfs" if is_pointer(content) else None
    found = [] if gap or content is None else _text_lines(content, secrets)
    became = gap if gap and may_hold_text(path) else "searched" if found or content == b"" else "skipped"
    shown = redact_lines(found)
    lines = [line if len(line) <= MAX_LINE_CHARS else "" for line in shown]
    defined = definitions_in(path, lines)
    chunks = split_into_chunks(lines, defined, prose=is_prose(path))
    changed = {at: text for at, text in enumerate(shown) if text != found[at]}
    connection.execute(
        "UPDATE file SET state = ?, changed = ?, passages = ?, spans = ? WHERE id = ?",
        (became, json.dumps(changed), len(chunks), json.dumps([(one.start, one.end) for one in chunks]), file),
    )
    connection.executemany(
        "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
        [((file << FILE_BITS) + at, *_searched(path, lines, one)) for at, one in enumerate(chunks)],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?, ?)",
        [(one.name, (file << FILE_BITS) + one.line, one.scope, one.kind, one.end) for one in defined],
    )
    names = dict.fromkeys(one.name for one in defined)
    connection.executemany("INSERT OR IGNORE INTO name (text) VALUES (?)", zip(names, strict=True))


def _searched(path: str, lines: Sequence[str], one: Chunk) -> tuple[str, str, str, str]:
    """Return what a passage is found by: what it defines, its path, its text; parts of names and what encloses it."""
    text = "\n".join(lines[one.start - 1 : one.end])
    parts = f"{extra_words(text)} {_with_parts(' '.join(one.scope))}"
    return _with_parts(" ".join(one.names)), path, text, parts


@lru_cache(maxsize=4096)  # what encloses one passage encloses others
def _with_parts(names: str) -> str:
    return f"{names} {extra_words(names)}"


def put_commits(connection: sqlite3.Connection, found: Iterable[Commit], known: Collection[str]) -> None:
    """Store what commits say, their newest first; as many at a time as credentials are looked for in at once."""
    while batch := list(islice(found, 50)):
        for one, message in zip(batch, shown_messages(batch, known), strict=True):
            row = connection.execute(
                "INSERT INTO made (sha, at) VALUES (?, ?)", (bytes.fromhex(one.sha), int(one.authored_at.timestamp()))
            )
            subject, _, body = message.partition("\n")
            words = f"{body}\n{extra_words(message)}"
            connection.execute(
                "INSERT INTO message (rowid, subject, body) VALUES (?, ?, ?)", (row.lastrowid, subject, words)
            )


def shown_messages(found: Iterable[Commit], known: Collection[str]) -> list[str]:
    """Return what commits say as it may be shown, each cut at MAX_MESSAGE_CHARS."""
    texts = [_whole_lines(one.message) for one in found]
    shown = iter(redact_lines([line for text in texts for line in text], known))
    return ["\n".join(islice(shown, len(text))) for text in texts]


def _whole_lines(message: str) -> list[str]:
    """Return the lines of a message up to MAX_MESSAGE_CHARS; half a line might hold half a credential."""
    lines = message[: MAX_MESSAGE_CHARS + 1].split("\n")
    return lines if len(message) <= MAX_MESSAGE_CHARS else lines[:-1]


def forget_commits(connection: sqlite3.Connection) -> None:
    """Remove every commit."""
    connection.execute("DELETE FROM made")
    connection.execute("INSERT INTO message (message) VALUES ('delete-all')")


LAYOUT: Final = 17
VERSION: Final = LAYOUT + 1_000 * CREDENTIAL_FORMS
"""Of the rows: another layout, or other rules for what is blacked out, and the index is built anew."""

BUSY_S: Final = 60
_CACHE_KIB: Final = 32 * 1024
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OF_THE_DISK: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
)

_T = TypeVar("_T")


class Damaged(Exception):
    """The file is no database of ours any more; delete it and build it again."""


class PassageStore:
    """A connection for each call, so that any thread and any process may use the same file."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def stamp(self) -> Stamp | None:
        """Return what tells one content of the file from another; None where it is gone. Raises StoreError."""
        return file_stamp(self._database)

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one transaction, committed at the end; raises what `connect` raises."""
        with self.connect() as connection, transaction(connection):
            yield connection

    @contextlib.contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Give a connection outside of any transaction.

        Raises:
            Damaged: the file is corrupt or of another version.
            StoreError: the file cannot be read or written.
            ConfigError: this Python's SQLite has no FTS5.
        """
        try:
            create_private(self._database.parent)
            with contextlib.closing(
                sqlite3.connect(self._database, timeout=BUSY_S, isolation_level=None)
            ) as connection:
                _prepare(connection)
                yield connection
        except sqlite3.Error as error:
            raise _translated(error, self._database) from error
        except OSError as error:
            raise StoreError(
                f"index: cannot use {self._database}: {error.strerror}; make its folder writable, or set TRIAGE_HOME"
            ) from error

    @contextlib.contextmanager
    def building(self, *, waits: bool = False) -> Iterator[bool]:
        """Give whether nobody else, in this process or another, writes the index; if so, keep others from it.

        With `waits`, wait until nobody else does.
        """
        create_private(self._database.parent)
        with Path(f"{self._database}.lock").open("ab") as handle:
            is_ours = True
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            except BlockingIOError:
                is_ours = False
            yield is_ours

    def whole(self, step: Callable[[], _T]) -> _T:
        """Return what `step` returns; a damaged database is deleted and the step taken once more.

        Raises:
            StoreError: it is damaged again.
        """
        try:
            return step()
        except Damaged:
            self._delete()
        try:
            return step()
        except Damaged as error:
            raise StoreError(
                "index: the database is damaged again right after it was rebuilt; check the disk"
            ) from error

    def _delete(self) -> None:
        """Remove the file, so that the next `connect` starts an empty one."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._database}{suffix}").unlink(missing_ok=True)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end; where it ends with an error the connection is to be closed."""
    connection.execute("BEGIN")
    yield
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA synchronous = NORMAL")  # after a power cut the last batches may be missing, none is torn
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, VERSION):
        raise Damaged(f"version {version}")
    for statement in SCHEMA.strip().split(";\n") if version == 0 else ():
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _translated(error: sqlite3.Error, database: Path) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED or (code == sqlite3.SQLITE_ERROR and "no such table" in str(error)):
        return Damaged(str(error))
    if "no such module" in str(error):
        return ConfigError("index: this Python's SQLite has no FTS5; use python.org's or Debian's Python")
    kind = DiskRefused if code in _OF_THE_DISK else StoreError
    return kind(f"index: cannot use {database}; check the disk and the folder's rights, or delete the file")
