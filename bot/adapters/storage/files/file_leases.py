"""Port Leases over lock files of one data directory; the kernel releases them however their holder ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.adapters.storage.files.atomic_write import create_folder
from bot.errors import ConfigError, refusal
from bot.ports.collections import HOME


class FileLeases:
    """The leases of one data directory: `lock` for the directory itself, `.<name>.lock` for the others."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Enter when nobody else is inside, in this process or another; raises StoreError."""
        handle = self._open(name)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def take(self, name: str) -> HeldLease:
        """Return the lease, held until it is released or the process ends.

        Raises:
            ConfigError: another process holds it; names its id.
            StoreError: the data directory cannot be used.
        """
        handle = self._open(name)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(handle, 32).decode().strip() or "unknown"
            os.close(handle)
            raise ConfigError(
                f"triage already runs on {self._home} (process {holder}); stop it, or set TRIAGE_HOME"
            ) from error
        with suppress(OSError):  # the lock holds on a full disk as well; the number is for people
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        return HeldLease(handle)

    def holder(self, name: str) -> str | None:
        """Return the id of the process that has taken a lease, or None; a lock nobody holds means that none has."""
        try:
            handle = os.open(self._path(name), os.O_RDONLY)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.read(handle, 32).decode(errors="replace").strip() or "unknown"
        finally:
            os.close(handle)
        return None

    def _open(self, name: str) -> int:
        create_folder(self._home)
        try:
            return os.open(self._path(name), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise refusal(f"cannot lock {self._path(name)}", error, "fix the folder's owner") from error

    def _path(self, name: str) -> Path:
        return self._home / ("lock" if name == HOME else f".{name}.lock")


class HeldLease:
    """A lock that this process holds."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def release(self) -> None:
        """Let another process have it."""
        os.close(self._handle)
