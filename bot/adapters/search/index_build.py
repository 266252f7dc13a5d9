"""Brings the passage index up to a commit, in batches that are whole whenever the process ends.

Reads committed blobs and writes the database. Memory does not grow with the repository: its files are listed into a
temporary table and read batch by batch, those most likely to hold an answer first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from typing import Final

from bot.adapters.search import index_rows as rows
from bot.adapters.search.passage_store import Damaged, PassageStore, transaction
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.domain.search.files import path_weight
from bot.errors import ProviderError
from bot.ports import Progress

BATCH_FILES: Final = 500
BATCH_BYTES: Final = 8_000_000
MAX_COMMITS: Final = 50_000
MOST_GONE: Final = 4
"""Once there were so many times as many files as there are, the index is built anew without those that are gone."""

_UPDATE: Final = """
DELETE FROM file WHERE (path, blob) NOT IN (SELECT path, blob FROM listed);
INSERT INTO file (path, blob, size, state)
    SELECT path, blob, size, state FROM listed WHERE path NOT IN (SELECT path FROM file) ORDER BY weight DESC, path;
UPDATE file SET state = (SELECT state FROM listed WHERE listed.path = file.path) WHERE state IN ('unreadable', 'lfs')
"""


def bring_up_to(
    commit: str,
    repo: GitRepo,
    store: PassageStore,
    secrets: Collection[str],
    *,
    on_progress: Progress | None = None,
    leaves: Callable[[int], bool] = lambda _: False,
) -> int | None:
    """Index what a commit changed; returns how many blobs were read, or None if they are left to others.

    `leaves` is asked that once it is known, and written down, how many files wait. What could not be read before is
    read again. A file that holds one of `secrets` is skipped.

    Raises:
        CodebaseUnreadable: git cannot list the commit.
        Damaged, StoreError, ConfigError: as PassageStore.connect does.
    """
    with store.connect() as connection:
        if connection.execute("SELECT max(id) > ? * count(*) FROM file", (MOST_GONE,)).fetchone()[0]:
            raise Damaged("most of its passages are of files that are gone")
        with transaction(connection):
            _list_files(connection, commit, repo)
        todo = rows.counts(connection).get("waiting", 0)
        if leaves(todo):
            return None
        done = read = 0
        for batch in _batches(connection):
            blobs = repo.readable_blobs(list(dict.fromkeys(blob for _, _, blob in batch)))
            with transaction(connection):
                for file, path, blob in batch:
                    rows.put_file(connection, file, path, blobs.get(blob), secrets)
            done, read = done + len(batch), read + len(blobs)
            if on_progress is not None:
                on_progress(done, todo)
        with transaction(connection):
            _store_commits(connection, commit, repo, secrets)
            rows.set_state(connection, commit=commit)
        return read


def _list_files(connection: sqlite3.Connection, commit: str, repo: GitRepo) -> None:
    """Forget what the commit does not hold, or holds otherwise, and note what is to be read."""
    connection.execute("CREATE TEMP TABLE listed (path PRIMARY KEY, blob, size, state, weight) WITHOUT ROWID")
    connection.executemany(
        "INSERT INTO listed VALUES (?, ?, ?, ?, ?)",
        (
            (one.path, one.blob, one.size, rows.first_state(one), path_weight(one.path, ""))
            for one in repo.each_entry(commit)
            if one.kind in (EntryKind.FILE, EntryKind.SUBMODULE) and one.path.isprintable()
        ),
    )
    for statement in _UPDATE.split(";"):
        connection.execute(statement)
    rows.set_state(connection, commit=None, target=commit)


def _batches(connection: sqlite3.Connection) -> Iterator[list[tuple[int, str, str]]]:
    """Yield id, path and blob of the waiting files, as many at a time as one transaction takes."""
    query = "SELECT id, path, blob, size FROM file WHERE state = 'waiting' ORDER BY id LIMIT ?"
    while found := connection.execute(query, (BATCH_FILES,)).fetchall():
        size = 0
        batch = [tuple(one) for *one, bytes_ in found if (size := size + bytes_) <= BATCH_BYTES or size == bytes_]
        yield batch


def _store_commits(connection: sqlite3.Connection, commit: str, repo: GitRepo, secrets: Collection[str]) -> None:
    """Store the newest commits in place of what was stored, or beside it where HEAD follows that.

    Where git cannot list them there are none, and that is a gap.
    """
    old = rows.state(connection, "history")
    if old == commit:
        return
    follows = old is not None and _follows(repo, commit, old)
    if not follows:
        rows.forget_commits(connection)
    try:
        found = GitHistory(repo).each_commit(commit, since=old if follows else None, limit=MAX_COMMITS)
        rows.put_commits(connection, found, secrets)
        rows.set_state(connection, history=commit)
    except ProviderError:
        rows.forget_commits(connection)
        rows.set_state(connection, history=None)


def _follows(repo: GitRepo, commit: str, old: str) -> bool:
    """Whether a commit has an old one, of which git may know nothing any more, in its history."""
    try:
        return not repo.process.run("rev-list", "--max-count=1", old, f"^{commit}", "--")
    except ProviderError:
        return False
