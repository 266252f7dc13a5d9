"""Closed threads, one file each: closed/<yyyy-mm>/<thread_id>.<closed_at>.json, found again by name.

The names are read once, at the first question, and kept in memory (100,000 of them: 0.4 s and 33 MB): a look-up
then costs the same however much has been closed. One process owns the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from bot.adapters.files import sync_folder
from bot.errors import refusal

_ID_PARTS: Final = 4
"""Of `<team>.<channel>.<seconds>.<fraction>`; what follows is when the thread closed."""


class ThreadArchive:
    """Takes the files of closed threads and finds them again; its caller holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, list[str]] | None = None

    def newest_first(self, thread_id: str) -> Iterator[Path]:
        """Yield the files of one thread, the one that closed last first."""
        for name in sorted(self._index().get(thread_id, ()), key=_closed, reverse=True):
            yield self._folder / name

    def take(self, source: Path, thread_id: str, closed_at: datetime) -> None:
        """Move a closed thread's file here; a second ending in the same second gets a number.

        Raises:
            StoreError: the disk refuses; the file is where it was.
        """
        folder = self._folder / f"{closed_at:%Y-%m}"
        stem = f"{thread_id}.{closed_at:%Y-%m-%dT%H:%M:%SZ}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            target, number = folder / f"{stem}.json", 1
            while target.exists():
                number += 1
                target = folder / f"{stem}.{number}.json"
            names = self._index()
            source.rename(target)
            sync_folder(folder)
        except OSError as error:
            raise refusal(f"cannot archive {source}", error, "check the disk and the folder's owner") from error
        names.setdefault(thread_id, []).append(f"{folder.name}/{target.name}")

    def _index(self) -> dict[str, list[str]]:
        if self._names is None:
            names: dict[str, list[str]] = {}
            for month in _entries(self._folder):
                for entry in _entries(Path(month.path)) if month.is_dir() else ():
                    thread_id = ".".join(entry.name.split(".", _ID_PARTS)[:_ID_PARTS])
                    names.setdefault(thread_id, []).append(f"{month.name}/{entry.name}")
            self._names = names
        return self._names


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what lies in a folder; nothing where there is none.

    Raises:
        StoreError: it cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise refusal(f"cannot list {folder}", error, "fix the folder's owner") from error


def _closed(name: str) -> tuple[str, int]:
    """Return when a file's thread closed and which ending of that second it is."""
    parts = name.removesuffix(".json").split(".")
    number = parts[_ID_PARTS + 1 : _ID_PARTS + 2]
    return parts[_ID_PARTS] if len(parts) > _ID_PARTS else "", int(number[0]) if number and number[0].isdigit() else 1
