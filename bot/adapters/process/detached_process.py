"""Port Terminal without tmux: plain processes in sessions of their own, which outlive the bot.

A process is alive while it holds the lock on its file in `folder`, its standard input: the kernel frees it with the
process, so no stranger with a recycled id is ever taken for ours. The id in the file counts only while it is locked.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.atomic_write import make_folder
from bot.errors import ProviderError, StoreError

TEE: Final = Path(__file__).with_name("tee.py")


class DetachedTerminal:
    """Processes with a file `<session>.lock` each in `folder`; one bot at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder)
        self._guard = threading.Lock()
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` unless the session is alive; returns None: there is nothing to attach to."""
        with self._guard:
            handle = _take(self._file(session))
            if handle is None:
                return None
            try:
                process = subprocess.Popen(  # noqa: S603 - argv, no shell
                    [sys.executable, "-I", str(TEE), str(log), *argv],
                    env=dict(env),
                    cwd=log.parent,
                    stdin=handle,  # the lock goes with it, and stays when we die
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                os.pwrite(handle, f"{process.pid}\n".encode(), 0)
            except OSError as error:
                raise ProviderError(f"could not start {session}: {error.strerror}") from error
            finally:
                os.close(handle)
            self._children.append(process)
        return None

    def sessions(self) -> frozenset[str]:
        """Return the names of the processes that are alive; forgets the others."""
        with self._guard:
            self._children = [child for child in self._children if child.poll() is None]
            return frozenset(path.stem for path in self._folder.glob("*.lock") if not _forget(path))

    def end(self, session: str) -> None:
        """End a process and everything it started; harmless when there is none."""
        path = self._file(session)
        with self._guard:
            if not path.exists() or _forget(path):
                return
            pid = path.read_text(encoding="ascii").strip()
            if not pid.isdecimal():  # the bot died between starting it and noting its id; it ends by its own limit
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(pid), signal.SIGKILL)
                _wait_and_forget(path)

    def _file(self, session: str) -> Path:
        return self._folder / f"{session}.lock"


def _take(path: Path) -> int | None:
    """Return a handle that holds the lock, or None if a process holds it."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check the disk and the folder's owner") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    os.truncate(handle, 0)
    return handle


def _wait_and_forget(path: Path) -> None:
    """Wait for the end of a process that was killed, then remove its file."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        path.unlink(missing_ok=True)


def _forget(path: Path) -> bool:
    """Remove the file of a process that has ended; False if it is alive."""
    handle = _take(path)
    if handle is None:
        return False
    path.unlink(missing_ok=True)
    os.close(handle)
    return True
