"""A lock between processes on a file beside what it guards; the kernel releases it when its holder dies.

One process per data directory: an advisory lock the kernel releases however the process ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.adapters.storage.files.atomic_write import make_folder
from bot.errors import ConfigError, refusal


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Enter when no other process is inside; raises StoreError where the file cannot be opened."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise refusal(f"cannot lock {path}", error, "fix the folder's owner") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class FileLeases:
    """Holds `<home>/lock` until `release` or the end of the process.

    Raises:
        ConfigError: another triage already runs on this home (at construction); names its process id.
        StoreError: the home cannot be used.
    """

    def __init__(self, home: Path) -> None:
        make_folder(home)
        try:
            self._handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise refusal(f"cannot open {home / 'lock'}", error, "fix the folder's owner") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(self._handle, 32).decode().strip() or "unknown"
            os.close(self._handle)
            raise ConfigError(
                f"triage already runs on {home} (process {holder}); stop it, or set TRIAGE_HOME"
            ) from error
        with suppress(OSError):  # the lock holds on a full disk as well; the number is for people
            os.truncate(self._handle, 0)
            os.write(self._handle, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let another process have the home."""
        os.close(self._handle)


def running_process(home: Path) -> str | None:
    """Return the id of the process that runs on a home, or None; a lock nobody holds means that none does."""
    try:
        handle = os.open(home / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(handle, 32).decode(errors="replace").strip() or "unknown"
    finally:
        os.close(handle)
    return None
