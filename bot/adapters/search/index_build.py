"""Brings the passage index up to a commit, in batches that are whole whenever the process ends.

Reads committed blobs and writes the database. Memory does not grow with the repository: its files are listed into a
temporary table and read batch by batch, those most likely to hold an answer first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from bot.adapters.search import passage_rows as rows
from bot.adapters.search.commit_rows import add_commits, forget_commits
from bot.adapters.search.passage_rows import holds_any, is_oversized, is_readable
from bot.adapters.search.passage_store import Damaged, PassageStore, transaction
from bot.agent.git.git_repo import EntryKind, GitRepo, TreeEntry, is_pointer
from bot.domain.search.files import may_hold_text, path_weight
from bot.domain.search.passages import IndexGaps
from bot.errors import ProviderError
from bot.ports import Progress

BATCH_FILES: Final = 500
BATCH_BYTES: Final = 8_000_000
_LISTED: Final = """
CREATE TEMP TABLE listed (path TEXT PRIMARY KEY, blob TEXT, size INTEGER, weight REAL) WITHOUT ROWID;
CREATE TEMP TABLE missing (path TEXT PRIMARY KEY, kind TEXT) WITHOUT ROWID;
CREATE TEMP TABLE todo (number INTEGER PRIMARY KEY, path TEXT, blob TEXT, size INTEGER)
"""
_TODO: Final = """
INSERT INTO todo (path, blob, size) SELECT listed.path, listed.blob, listed.size FROM listed
LEFT JOIN file ON file.path = listed.path
WHERE file.blob IS NOT listed.blob OR listed.path IN (SELECT path FROM gap WHERE kind IS NOT 'oversized')
ORDER BY listed.weight DESC, listed.path
"""


def bring_up_to(
    commit: str,
    repo: GitRepo,
    store: PassageStore,
    secrets: Collection[bytes],
    *,
    on_progress: Progress | None = None,
    at_most: int | None = None,
) -> int | None:
    """Index what a commit changed; returns how many blobs were read, or None if that is more than `at_most` files.

    What could not be read before is read again. A file that holds one of `secrets` is skipped. Where it is left to
    others how many files wait is written down.

    Raises:
        CodebaseUnreadable: git cannot list the commit.
        Damaged, StoreError, ConfigError: as PassageStore.connect does.
    """
    with store.connect() as connection:
        if rows.is_worn(connection):
            raise Damaged("most of its passages are of files that are gone")
        for statement in _LISTED.split(";"):
            connection.execute(statement)
        with transaction(connection):
            _list_files(connection, commit, repo)
            connection.execute(_TODO)
        todo = connection.execute("SELECT count(*) FROM todo").fetchone()[0]
        if at_most is not None and todo > at_most:
            with transaction(connection):
                _begin(connection, commit)
            return None
        done = read = 0
        for batch in chain(_batches(connection), [[]] if not todo else []):
            blobs = _read_batch(batch, repo)
            with transaction(connection):
                if not done:
                    _begin(connection, commit)
                _store_batch(connection, batch, blobs, secrets)
                done, read = done + len(batch), read + len(blobs)
            if todo and on_progress is not None:
                on_progress(done, todo)
        with transaction(connection):
            _store_commits(connection, commit, repo, secrets)
            rows.set_state(connection, commit=commit)
        return read


def _store_commits(connection: sqlite3.Connection, commit: str, repo: GitRepo, secrets: Collection[bytes]) -> None:
    """Store what commits say; where git cannot list them there are none, and that is a gap."""
    old = rows.state(connection, "history")
    if old == commit:
        return
    known = [secret.decode() for secret in secrets]
    try:
        add_commits(connection, repo, old, commit, known)
    except ProviderError:
        forget_commits(connection)
        rows.add_gaps(connection, IndexGaps(history=(commit[:10],)))
        commit = ""
    rows.set_state(connection, history=commit or None)


def _list_files(connection: sqlite3.Connection, commit: str, repo: GitRepo) -> None:
    """Fill `listed` and `missing` with the files of a commit."""
    try:
        _note_entries(connection, repo.each_entry(commit))
    except ProviderError:  # sizes of a clone without blobs would have to be fetched
        connection.execute("DELETE FROM listed")
        connection.execute("DELETE FROM missing")
        _note_entries(connection, repo.tree(commit))
        submodules = [(path, "submodules") for path in repo.submodules(commit) if path.isprintable()]
        connection.executemany("INSERT OR REPLACE INTO missing VALUES (?, ?)", submodules)


def _note_entries(connection: sqlite3.Connection, entries: Iterable[TreeEntry]) -> None:
    for one in entries:
        if not one.path.isprintable():
            continue
        if one.kind is EntryKind.SUBMODULE:
            connection.execute("INSERT INTO missing VALUES (?, 'submodules')", (one.path,))
        elif one.is_missing and may_hold_text(one.path):
            connection.execute("INSERT INTO missing VALUES (?, 'unreadable')", (one.path,))
        elif one.kind is EntryKind.FILE and not one.is_missing:
            row = (one.path, one.blob, one.size, path_weight(one.path, ""))
            connection.execute("INSERT INTO listed VALUES (?, ?, ?, ?)", row)
            if is_oversized(one):
                connection.execute("INSERT INTO missing VALUES (?, 'oversized')", (one.path,))


def _begin(connection: sqlite3.Connection, commit: str) -> None:
    """Forget what the commit does not hold, or holds otherwise, and say what is to be done."""
    total = connection.execute("SELECT count(*) FROM listed").fetchone()[0]
    rows.set_state(connection, commit=None, target=commit, total=str(total))
    connection.execute("DELETE FROM file WHERE path NOT IN (SELECT path FROM listed EXCEPT SELECT path FROM todo)")
    connection.execute("DELETE FROM gap")
    connection.execute("INSERT INTO gap SELECT path, kind FROM missing")


def _batches(connection: sqlite3.Connection) -> Iterator[list[TreeEntry]]:
    """Yield the files to read, as many at a time as one transaction takes."""
    last = 0
    while True:
        found = connection.execute(
            "SELECT number, path, blob, size FROM todo WHERE number > ? ORDER BY number LIMIT ?", (last, BATCH_FILES)
        ).fetchall()
        if not found:
            return
        batch: list[TreeEntry] = []
        size = 0
        for number, path, blob, bytes_ in found:
            entry = TreeEntry(path=path, blob=blob, size=bytes_)
            size += bytes_ if is_readable(entry) else 0
            if batch and size > BATCH_BYTES:
                break
            batch.append(entry)
            last = number
        yield batch


def _read_batch(batch: Sequence[TreeEntry], repo: GitRepo) -> dict[str, bytes]:
    """Return the contents of the files that may be read, by blob; without those that git cannot read."""
    return repo.readable_blobs(list(dict.fromkeys(entry.blob for entry in batch if is_readable(entry))))


def _store_batch(
    connection: sqlite3.Connection, batch: Sequence[TreeEntry], blobs: Mapping[str, bytes], secrets: Collection[bytes]
) -> None:
    contents = {blob: None if holds_any(content, secrets) else content for blob, content in blobs.items()}
    for one in batch:
        rows.put_file(connection, one.path, one.blob, contents.get(one.blob) if is_readable(one) else None)
    textual = [one for one in batch if is_readable(one) and may_hold_text(one.path)]
    unread = IndexGaps(
        unreadable=tuple(one.path for one in textual if one.blob not in blobs),
        lfs=tuple(one.path for one in textual if is_pointer(blobs.get(one.blob, b""))),
    )
    rows.add_gaps(connection, unread)
