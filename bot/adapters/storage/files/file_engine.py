"""Port Engine over the data directories of one machine; one process at a time works on them."""

from __future__ import annotations

from pathlib import Path
from threading import Condition
from typing import Final

from bot.adapters.storage.files.atomic_write import probe_folder
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.file_store import FileStore
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.config.environment import TEAMS
from bot.ports import Clock


class FileEngine:
    """The files of a process's data directory, and of its teams' inside."""

    is_shared: Final = False
    pace: Final = None
    replicas: Final = None

    def __init__(self, home: Path) -> None:
        self._home = home

    def store(self, home: Path, *, is_reader: bool = False) -> FileStore:
        """Return what a data directory holds."""
        return FileStore(home, is_reader=is_reader)

    def jobs(self, home: Path, clock: Clock, *, max_running: int, changed: Condition) -> SpoolQueue:
        """Return the queue of a data directory."""
        return SpoolQueue(home / "queue", clock, max_running=max_running, changed=changed)

    def leases(self, home: Path) -> FileLeases:
        """Return the leases of a data directory."""
        return FileLeases(home)

    def teams(self) -> list[str]:
        """Return the teams that have a data directory in the process's own."""
        folder = self._home / TEAMS
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def probe(self, free_bytes: int) -> None:
        """Raise StoreError where the process's data directory takes no writes, or less room is free."""
        probe_folder(self._home, free_bytes)

    def close(self) -> None:
        """Nothing is open."""
