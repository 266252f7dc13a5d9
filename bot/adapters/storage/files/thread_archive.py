"""Closed threads, one file each: closed/<yyyy-mm>/<thread_id>.<closed_at>.json, found again by name.

The names are read once, at the first question, and kept in memory (100,000 of them: 0.4 s and 33 MB): a look-up
then costs the same however much has been closed. One process owns the folder.

Finds one thread in the data directory by id or by Slack link, open or archived, without touching anything.

For commands beside a running bot: the store itself belongs to the bot's process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from bot.adapters.storage.files.atomic_write import list_files, read_json, sync_folder
from bot.domain.threads import ThreadState, check_thread_id
from bot.errors import InputError, refusal

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


_LINK: Final = re.compile(r"/archives/(?P<channel>[A-Z0-9]+)/p(?P<seconds>[0-9]+)(?P<fraction>[0-9]{6})/?")
_TS: Final = re.compile(r"[0-9]+\.[0-9]+")


def find_thread(home: Path, asked: str) -> ThreadState:
    """Return the thread with this id or link as it stands, else as it last ended.

    Raises:
        InputError: it is neither an id nor a link, or no such thread is on file.
        StoreError: its file cannot be read.
    """
    name = name_pattern(asked)
    for path in _newest_first(home, name):
        try:
            return ThreadState.model_validate(read_json(path))
        except ValidationError:
            continue
    raise InputError(f"no thread {asked[:200]!r} in {home}; `triage status` lists the open ones")


def name_pattern(asked: str) -> str:
    """Return the file name of a thread without its ending, as a glob where the team is not known.

    >>> name_pattern("https://acme.slack.com/archives/C01/p1700000009000200?thread_ts=1700000000.000100&cid=C01")
    '*.C01.1700000000.000100'
    """
    parts = urlsplit(asked.strip().strip("<>"))
    link = _LINK.fullmatch(parts.path) if parts.scheme in ("http", "https") else None
    if link is None:
        return check_thread_id(asked.strip())
    parent = parse_qs(parts.query).get("thread_ts", [""])[0]
    ts = parent if _TS.fullmatch(parent) else f"{link['seconds']}.{link['fraction']}"
    return f"*.{link['channel']}.{ts}"


def _newest_first(home: Path, name: str) -> Iterator[Path]:
    yield from list_files(home / "state", f"{name}.json")
    yield from sorted(list_files(home / "closed", f"*/{name}.*.json"), key=lambda path: path.stem, reverse=True)
