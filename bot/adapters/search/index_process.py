"""A process of its own that brings the passage index up to HEAD, so that the bot answers Slack meanwhile.

It is started as `python -m bot.adapters.search.index_process` and reads one line of JSON. It ends with the process that
started it, however that ends: the kernel closes the pipe on its standard input. It may be killed at any moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.adapters.search.index_build import bring_up_to
from bot.adapters.search.passage_store import PassageStore
from bot.agent.git.git_repo import GitRepo
from bot.errors import TriageError

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
