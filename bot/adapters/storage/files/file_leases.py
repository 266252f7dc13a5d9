"""Port Leases over lock files of one data directory; the kernel releases them however their holder ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from bot.adapters.storage.files.atomic_write import create_folder, set_aside
from bot.errors import ConfigError, refused
from bot.ports.collections import HOME


class FileLeases:
    """The leases of one data directory: it and `lock` for the directory itself, `.<name>.lock` for the others."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @contextmanager
    def hold(self, name: str) -> Iterator[int]:
        """Enter with a handle on the lock's file when nobody else is inside, in any process; raises StoreError."""
        with ExitStack() as held:
            yield self._lock(held, name, fcntl.LOCK_EX)

    def take(self, name: str) -> HeldLease:
        """Return the lease, held until it is released or the process ends.

        Raises:
            ConfigError: another process holds it; names its id.
            StoreError: the data directory cannot be used.
        """
        with ExitStack() as held:
            try:
                handle = self._lock(held, name, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._lock_folder(held, name, fcntl.LOCK_EX)
            except BlockingIOError as error:
                raise ConfigError(
                    f"triage already runs on {self._home} (process {self._written(name)}); stop it, or set TRIAGE_HOME"
                ) from error
            with suppress(OSError):  # the lock holds on a full disk as well; the number is for people
                os.truncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            return HeldLease(held.pop_all())

    def holder(self, name: str) -> str | None:
        """Return the id of the process that has taken a lease, or None; a lock nobody holds means that none has."""
        with ExitStack() as held, suppress(OSError):
            try:
                self._lock_folder(held, name, fcntl.LOCK_SH)
                fcntl.flock(_opened(held, self._path(name), os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return self._written(name)
        return None

    def _lock(self, held: ExitStack, name: str, how: int) -> int:
        """Lock, and return a handle on, the lock file that is there now: one that was deleted keeps nobody out."""
        create_folder(self._home)
        path = self._path(name)
        while True:
            if name != HOME and path.is_dir():  # every job that needs it would be given up
                set_aside(path)
            with ExitStack() as opened:
                with refused(f"cannot lock {path}", "fix the folder's owner"):
                    handle = _opened(opened, path, os.O_RDWR | os.O_CREAT)
                fcntl.flock(handle, how)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), path.stat()):
                        held.enter_context(opened.pop_all())
                        return handle

    def _lock_folder(self, held: ExitStack, name: str, how: int) -> None:
        """Lock the data directory itself, too: its lock outlives a deleted file. Raises BlockingIOError.

        A file system that locks no folders (NFS) leaves it at the file.
        """
        if name == HOME:
            handle = _opened(held, self._home, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
            except OSError as error:
                if isinstance(error, BlockingIOError):
                    raise

    def read(self, name: str, size: int) -> bytes:
        """Return what whoever held a lease last left in its lock file, at most `size` bytes; none where it is gone."""
        with ExitStack() as held, suppress(OSError):
            return os.read(_opened(held, self._path(name), os.O_RDONLY), size)
        return b""

    def _written(self, name: str) -> str:
        """Return the process id that stands in a lock file."""
        return self.read(name, 32).decode(errors="replace").strip() or "unknown"

    def _path(self, name: str) -> Path:
        return self._home / ("lock" if name == HOME else f".{name}.lock")


class HeldLease:
    """Locks that this process holds; nobody takes over what a process that lives has locked."""

    def __init__(self, locks: ExitStack) -> None:
        self._locks, self.is_held = locks, True

    def fenced(self) -> AbstractContextManager[None]:
        """Enter: there is nobody to keep out."""
        return nullcontext()

    def release(self) -> None:
        """Let another process have them."""
        self._locks.close()
        self.is_held = False


def _opened(held: ExitStack, path: Path, flags: int) -> int:
    """Return a handle that is closed with what is held; raises OSError."""
    handle = os.open(path, flags, 0o600)
    held.callback(os.close, handle)
    return handle
