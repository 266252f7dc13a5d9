"""One process per data directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import ConfigError, StoreError

HOLD_AND_DIE = (
    "import os, sys\n"
    "from pathlib import Path\n"
    "from bot.adapters.storage.files.file_leases import FileLeases\n"
    "lock = FileLeases(Path(sys.argv[1]))\n"
    "os.kill(os.getpid(), 9)\n"
)


def test_a_second_bot_is_refused_and_told_which_process_runs(tmp_path: Path) -> None:
    """Two bots on one queue would post twice."""
    FileLeases(tmp_path)
    with pytest.raises(ConfigError, match=f"process {os.getpid()}"):
        FileLeases(tmp_path)


def test_a_released_home_is_free(tmp_path: Path) -> None:
    """A bot that stopped leaves nothing to clean up."""
    FileLeases(tmp_path).release()
    FileLeases(tmp_path).release()


def test_a_killed_bot_leaves_no_lock(tmp_path: Path) -> None:
    """The kernel lets go, whatever the file says."""
    done = subprocess.run([sys.executable, "-c", HOLD_AND_DIE, str(tmp_path)], check=False)
    assert done.returncode == -9
    FileLeases(tmp_path).release()


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file in the way, or a folder where the lock should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        FileLeases(tmp_path / "file")
    (tmp_path / "home" / "lock").mkdir(parents=True)
    with pytest.raises(StoreError):
        FileLeases(tmp_path / "home")


def test_the_home_is_for_its_owner(tmp_path: Path) -> None:
    """Questions and drafts are not for everybody on the machine."""
    FileLeases(tmp_path / "home").release()
    assert (tmp_path / "home").stat().st_mode & 0o077 == 0
