"""The folders of runs, below runs/ and escalations/: written where the run is, read by every replica."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol


class RunFolders(Protocol):
    """A folder is named by its place below the data directory, as `runs/<run>`. Methods raise StoreError."""

    def here(self, folder: str) -> Path:
        """Return where a run of this process writes; nothing need be there yet."""
        ...

    def publish(self, folder: str) -> None:
        """Have every replica read a folder as it stands here; harmless where there is none."""
        ...

    def fetch(self, folder: str) -> Path:
        """Return where a folder can be read, as it was last published or is written here; it may not be there."""
        ...

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then."""
        ...

    def published_before(self, moment: datetime) -> Sequence[str]:
        """Return folders that are kept for all replicas and were last written to before then, the oldest first."""
        ...

    def withdraw(self, folders: Sequence[str]) -> None:
        """Keep folders for all replicas no longer; what lies on a machine stays there."""
        ...
