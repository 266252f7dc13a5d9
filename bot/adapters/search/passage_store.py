"""The SQLite file behind the passage index: one row a file, and FTS5 over the words of the passages.

It is a cache of committed text and nothing else: when it is damaged or of another version it is deleted and built
again. One process at a time brings it up to a commit (`building`); any number may read it meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from bot.adapters.search.index_rows import SCHEMA
from bot.adapters.storage.files.atomic_write import Stamp, create_private, file_stamp
from bot.domain.credentials.secret_forms import VERSION as CREDENTIAL_FORMS
from bot.errors import ConfigError, DiskRefused, StoreError

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
