"""Port RunFolders over one data directory: who writes and who reads are on the same disk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import refusal


class FileRunFolders:
    """The folders below one data directory."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def here(self, folder: str) -> Path:
        """Return where a folder lies."""
        return self._home / folder

    def publish(self, folder: str) -> None:
        """Do nothing: it can be read already."""

    def fetch(self, folder: str) -> Path:
        """Return where a folder lies."""
        return self._home / folder

    def long_runs_since(self, moment: datetime) -> int:
        """Return how many long runs have ended since then."""
        return sum(_changed_at(path) >= moment for path in (self._home / "escalations").glob("*/.done"))

    def published_before(self, moment: datetime) -> Sequence[str]:  # noqa: ARG002 - the port's
        """Return nothing: nothing is kept elsewhere."""
        return ()

    def withdraw(self, folders: Sequence[str]) -> None:
        """Do nothing: nothing is kept elsewhere."""


def _changed_at(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise refusal(f"cannot read {path}", error, "run this as the user who runs triage") from error
