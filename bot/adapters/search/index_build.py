"""Brings the passage index up to a commit, in batches that are whole whenever the process ends.

Reads committed blobs and writes the database. Memory does not grow with the repository: its files are listed into a
temporary table and read batch by batch, those most likely to hold an answer first.

The bot has a process of its own do it, so that it answers Slack meanwhile: `python -m bot.adapters.search.index_build`
reads one line of JSON. It ends with the process that started it, however that ends: the kernel closes the pipe on its
standard input. It may be killed at any moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.adapters.search import passage_store as rows
from bot.adapters.search.passage_store import Damaged, PassageStore, transaction
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.domain.search.files import path_weight
from bot.errors import ProviderError, TriageError
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


NICENESS: Final = 10
_STOP_S: Final = 2.0


class IndexProcess:
    """Starts and ends the process; the secrets go to it through a pipe, never through its environment."""

    def __init__(self, root: Path, database: Path, secrets: Collection[str]) -> None:
        self._request = {"root": str(root), "database": str(database.absolute()), "secrets": sorted(secrets)}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def start(self) -> bool:
        """Start it unless it runs; False where it cannot be started, or was closed."""
        with self._lock:
            if not (self._is_closed or self.is_running):
                with suppress(OSError):
                    self._process = self._spawn()
            return self.is_running

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End it, for good; what it has finished is kept."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
                with suppress(subprocess.TimeoutExpired):  # the disk holds it; the kernel ends it once that answers
                    self._process.communicate(timeout=_STOP_S)

    def _spawn(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=Path(__file__).parents[3],
            env={key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR", "PYTHONPATH") if key in os.environ},
            start_new_session=True,  # a terminal interrupts the whole group
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(self._request).encode() + b"\n")
        return process


def main() -> int:
    """Index what the line on standard input names; exit code 1, with the reason on stderr, where that fails."""
    os.nice(NICENESS)
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        index(Path(request["root"]), Path(request["database"]), request["secrets"])
    except TriageError as error:
        print(f"index: {error}", file=sys.stderr)
        return 1
    return 0


def index(root: Path, database: Path, secrets: Collection[str]) -> None:
    """Bring the index of a checkout up to HEAD, after whoever else is at it; raises what `bring_up_to` raises."""
    repo, store = GitRepo(root), PassageStore(database)
    with store.building(waits=True):
        store.whole(lambda: bring_up_to(repo.head(), repo, store, secrets))


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not sys.stdin.read: Python aborts if it ends while a thread is in that
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
