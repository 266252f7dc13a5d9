"""The SQLite file behind the passage index: one row a file, one row a passage, and FTS5 over the passages.

It is a cache of committed text and nothing else: when it is damaged or of another version it is deleted and built
again. `commit` is set only while the rows are exactly that commit's; a killed build leaves it unset and its finished
batches in place.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from bot.domain.secret_forms import VERSION as CREDENTIAL_FORMS
from bot.errors import ConfigError, DiskRefused, StoreError

LAYOUT = 1
VERSION = LAYOUT + 1_000 * CREDENTIAL_FORMS
"""Of the rows: another layout, or other rules for what is blacked out, and the index is built anew."""
BUSY_S = 60
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OF_THE_DISK = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_SCHEMA = f"""
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE file (path TEXT PRIMARY KEY, blob TEXT NOT NULL, skipped INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE passage (id INTEGER PRIMARY KEY, path TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL);
CREATE INDEX passage_path ON passage (path);
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
