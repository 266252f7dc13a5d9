"""The files of a data directory as any other program reads them: no line of the bot is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def list_files(folder: Path, pattern: str) -> list[Path]:
    """Return what matches a glob pattern, sorted, without temporary and other hidden files."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


class Journal:
    """One append-only journal; a line that is still being written, or is no JSON, is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield every record, oldest first; a journal nobody wrote has none."""
        for line in self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []:
            with suppress(ValueError):
                yield json.loads(line)
