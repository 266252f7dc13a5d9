"""Port Leases over lock files of one data directory; the kernel releases them however their holder ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from bot.adapters.storage.files.atomic_write import create_folder, set_aside
from bot.errors import ConfigError, refused
from bot.ports.collections import HOME


class FileLeases:
    """The leases of one data directory: it and `lock` for the directory itself, `.<name>.lock` for the others."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Enter when nobody else is inside, in this process or another; raises StoreError."""
        handle = self._locked(name, fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.close(handle)

    def take(self, name: str) -> HeldLease:
        """Return the lease, held until it is released or the process ends.

        Raises:
            ConfigError: another process holds it; names its id.
            StoreError: the data directory cannot be used.
        """
        handles = []
        try:
            handles.append(self._locked(name, fcntl.LOCK_EX | fcntl.LOCK_NB))
            handles += self._folder_locked(name, fcntl.LOCK_EX)
        except BlockingIOError as error:
            _close(handles)
            raise ConfigError(
                f"triage already runs on {self._home} (process {self._written(name)}); stop it, or set TRIAGE_HOME"
            ) from error
        with suppress(OSError):  # the lock holds on a full disk as well; the number is for people
            os.truncate(handles[0], 0)
            os.write(handles[0], f"{os.getpid()}\n".encode())
        return HeldLease(handles)

    def holder(self, name: str) -> str | None:
        """Return the id of the process that has taken a lease, or None; a lock nobody holds means that none has."""
        handles = []
        try:
            handles += self._folder_locked(name, fcntl.LOCK_SH)
            handles.append(os.open(self._path(name), os.O_RDONLY))
            fcntl.flock(handles[-1], fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._written(name)
        except OSError:
            return None
        finally:
            _close(handles)
        return None

    def _locked(self, name: str, how: int) -> int:
        """Return a handle on the lock file that is there now: one that was deleted meanwhile keeps nobody out."""
        while True:
            handle = self._open(name)
            try:
                fcntl.flock(handle, how)
                if os.path.samestat(os.fstat(handle), self._path(name).stat()):
                    return handle
            except FileNotFoundError:
                pass
            except OSError:
                os.close(handle)
                raise
            os.close(handle)

    def _folder_locked(self, name: str, how: int) -> list[int]:
        """Lock the data directory itself, too: its lock outlives a deleted file. Raises BlockingIOError.

        A file system that locks no folders (NFS) leaves it at the file.
        """
        if name != HOME:
            return []
        handle = os.open(self._home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if isinstance(error, BlockingIOError):
                raise
            return []
        return [handle]

    def _written(self, name: str) -> str:
        """Return the process id that stands in a lock file."""
        try:
            with self._path(name).open("rb") as file:
                return file.read(32).decode(errors="replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def _open(self, name: str) -> int:
        create_folder(self._home)
        if name != HOME and (path := self._path(name)).is_dir():  # every job that needs it would be given up
            set_aside(path)
        with refused(f"cannot lock {self._path(name)}", "fix the folder's owner"):
            return os.open(self._path(name), os.O_RDWR | os.O_CREAT, 0o600)

    def _path(self, name: str) -> Path:
        return self._home / ("lock" if name == HOME else f".{name}.lock")


class HeldLease:
    """Locks that this process holds."""

    def __init__(self, handles: list[int]) -> None:
        self._handles = handles

    @property
    def is_held(self) -> bool:
        """Nobody takes over what a process that lives has locked."""
        return bool(self._handles)

    def fenced(self) -> AbstractContextManager[None]:
        """Enter: there is nobody to keep out."""
        return nullcontext()

    def release(self) -> None:
        """Let another process have them."""
        _close(self._handles)
        self._handles = []


def _close(handles: list[int]) -> None:
    for handle in handles:
        os.close(handle)
