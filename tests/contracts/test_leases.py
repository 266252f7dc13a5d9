"""The contract of the port Leases, run over every engine; below it, what only files can do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import ConfigError, StoreError
from bot.ports import Leases
from bot.ports.collections import HOME
from tests import fork_server
from tests.postgres import new_namespace, shared_database

Open = Callable[[], Leases]


def _postgres(_: Path) -> Open:
    database, namespace = shared_database(), new_namespace()
    from bot.adapters.storage.postgres.postgres_leases import PostgresLeases

    return lambda: PostgresLeases(database, namespace)


ENGINES: Final[Mapping[str, Callable[[Path], Open]]] = {
    "files": lambda home: lambda: FileLeases(home),
    "postgres": _postgres,
}

TAKE_AND_DIE = (
    "import os, sys\n"
    "from pathlib import Path\n"
    "from bot.adapters.storage.files.file_leases import FileLeases\n"
    "lease = FileLeases(Path(sys.argv[1])).take('home')\n"
    "os.kill(os.getpid(), 9)\n"
)


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same leases again and again, as another process does."""
    return ENGINES[request.param](tmp_path)


def test_a_second_bot_is_refused_and_told_which_process_runs(reopen: Open) -> None:
    """Two bots on one queue would post twice; another lease is not concerned."""
    held = reopen().take(HOME)
    with pytest.raises(ConfigError, match=f"process {os.getpid()}"):
        reopen().take(HOME)
    assert reopen().holder(HOME) == str(os.getpid())
    reopen().take("other").release()
    held.release()


def test_a_released_lease_is_free(reopen: Open) -> None:
    """A bot that stopped leaves nothing to clean up."""
    assert reopen().holder(HOME) is None
    reopen().take(HOME).release()
    assert reopen().holder(HOME) is None
    reopen().take(HOME).release()


class TestOnDisk:
    """What the contract cannot say because only a kernel holds a lock."""

    def test_a_killed_bot_leaves_no_lock(self, tmp_path: Path) -> None:
        """The kernel lets go, whatever the file says."""
        done = fork_server.run("tests.program", TAKE_AND_DIE, str(tmp_path), env=os.environ)
        assert done.returncode == -9
        assert FileLeases(tmp_path).holder(HOME) is None
        FileLeases(tmp_path).take(HOME).release()

    def test_a_home_that_cannot_be_made_is_said(self, tmp_path: Path) -> None:
        """A file in the way, or a folder where the lock should be."""
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError):
            FileLeases(tmp_path / "file").take(HOME)
        (tmp_path / "home" / "lock").mkdir(parents=True)
        with pytest.raises(StoreError):
            FileLeases(tmp_path / "home").take(HOME)

    def test_the_home_is_for_its_owner(self, tmp_path: Path) -> None:
        """Questions and drafts are not for everybody on the machine."""
        FileLeases(tmp_path / "home").take(HOME).release()
        assert (tmp_path / "home").stat().st_mode & 0o077 == 0


def test_one_at_a_time_is_inside(tmp_path: Path) -> None:
    """Eight that add to one number lose nothing."""
    seen = [0]

    def add() -> None:
        for _ in range(20):
            with FileLeases(tmp_path).hold("sum"):
                before = seen[0]
                threading.Event().wait(0.0001)
                seen[0] = before + 1

    adders = [threading.Thread(target=add) for _ in range(8)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    assert seen == [160]


def test_a_deleted_lock_file_lets_nobody_in(tmp_path: Path) -> None:
    """Whoever tidies the data directory by hand does not start a second bot; what comes after the first one may."""
    held = FileLeases(tmp_path).take(HOME)
    (tmp_path / "lock").unlink()
    with pytest.raises(ConfigError, match="already runs"):
        FileLeases(tmp_path).take(HOME)
    assert FileLeases(tmp_path).holder(HOME) is not None
    held.release()
    (tmp_path / "lock").unlink(missing_ok=True)
    FileLeases(tmp_path).take(HOME).release()
    assert FileLeases(tmp_path).holder(HOME) is None


def test_a_folder_in_the_place_of_a_lock_is_set_aside(tmp_path: Path) -> None:
    """Else every job that needs the lease is given up, and nobody can ever hold it."""
    (tmp_path / ".state.lock").mkdir()
    with FileLeases(tmp_path).hold("state"):
        assert (tmp_path / ".state.lock").is_file()
    assert (tmp_path / ".state.lock.corrupt").is_dir()
