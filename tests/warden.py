"""Leaves nothing of a run of the tests: whoever belongs to it is ended and its folder is removed, however it ended.

Started as a script, `warden.py <folder>`, with a pipe as its standard input. Its end is the end of the run, also of one
that was killed. To the run belongs whatever has its folder as TMPDIR, which tests, servers, browsers and
bots hand on to all that they start; where there is no /proc to tell that, only a database is ended.
Imports nothing of ours, so that it is up within some milliseconds.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

LIMIT_S: Final = 30.0
_DATABASE_ENDS_WITHIN_S: Final = 6.0
"""Its own processes are killed by it after 5 s; it has to be the last, to give shared memory back."""
_PROC: Final = Path("/proc")


def guard_run() -> Path:
    """Give this process and all that it starts a folder for what is temporary, which goes with them when it ends."""
    before = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="triage-tests-")
    warden = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, folder], stdin=subprocess.PIPE, start_new_session=True
    )
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", before)  # pytest keeps the folders of the last three runs
    atexit.register(_dismiss, warden)
    return Path(folder)


def _dismiss(warden: subprocess.Popen[bytes]) -> None:
    assert warden.stdin is not None
    warden.stdin.close()
    warden.wait(2 * LIMIT_S)


def clear(folder: Path) -> None:
    """End whoever belongs to a folder, and remove it."""
    began_s, told = time.monotonic(), set[int]()
    databases = set(_databases(folder))
    while found := set(_members(folder)) | {pid for pid in databases if _is_database(pid)}:
        passed_s = time.monotonic() - began_s
        for pid in found:
            if passed_s > _DATABASE_ENDS_WITHIN_S or not _is_database(pid):
                _signal(pid, signal.SIGKILL)
            elif pid not in told:
                told.add(pid)
                _signal(pid, signal.SIGQUIT)
        if passed_s > LIMIT_S:
            break
        time.sleep(0.02)
    for place in _mounts(folder):
        subprocess.run(["umount", "--lazy", place], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def _members(folder: Path) -> Iterator[int]:
    """Find the processes whose TMPDIR is the folder, or one in it."""
    wanted = b"TMPDIR=" + os.fsencode(folder)
    for place in _PROC.glob("[0-9]*/environ"):
        with suppress(OSError):
            for entry in place.read_bytes().split(b"\0"):
                if (entry == wanted or entry.startswith(wanted + b"/")) and int(place.parent.name) != os.getpid():
                    yield int(place.parent.name)
                    break


def _databases(folder: Path) -> Iterator[int]:
    """Find the servers whose data lie in the folder; an old file may name the number of somebody else by now."""
    for place in folder.glob("**/postmaster.pid"):
        with suppress(OSError, ValueError, IndexError):
            pid = int(place.read_text(encoding="ascii").splitlines()[0])
            if not _PROC.exists() or (_PROC / f"{pid}" / "cwd").resolve().is_relative_to(folder.resolve()):
                yield pid


def _is_database(pid: int) -> bool:
    """Whether it is one that runs; nothing is told of who has ended and is not buried yet."""
    if not _PROC.exists():
        return _signal(pid, 0)
    with suppress(OSError):
        return b"postgres" in (_PROC / f"{pid}" / "cmdline").read_bytes()
    return False


def _signal(pid: int, number: int) -> bool:
    """Send a signal; return whether it arrived."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        return True
    return False


def _mounts(folder: Path) -> list[str]:
    """Find the file systems that are mounted in the folder, the innermost first."""
    with suppress(OSError):
        places = [line.split()[4] for line in (_PROC / "self" / "mountinfo").read_text().splitlines()]
        return sorted((place for place in places if place.startswith(f"{folder}/")), reverse=True)
    return []


if __name__ == "__main__":
    while os.read(0, 1024):  # nobody writes to it
        pass
    clear(Path(sys.argv[1]))
