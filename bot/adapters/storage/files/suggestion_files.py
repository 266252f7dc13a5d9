"""Port SuggestionStore over suggestions/<id>.json, each replaced as a whole.

The bot and the terminal both write, under a lock the kernel releases. Every write renames a file into the folder, so
the folder's time tells whether anything has to be read again. What cannot be read is set aside and told to `on_damage`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.adapters.storage.files.atomic_write import list_files, make_folder, read_json, replace_json, set_aside
from bot.adapters.storage.files.file_leases import exclusive_lock
from bot.domain.sharing.suggestions import Suggestion, check_suggestion_id
from bot.errors import InputError, refusal

FOLDER: Final = "suggestions"


class SuggestionFiles:
    """The suggestions of one data directory."""

    def __init__(self, home: Path, *, on_damage: Callable[[Path], None]) -> None:
        self._folder = home / FOLDER
        self._on_damage = on_damage
        self._lock = threading.RLock()
        self._known: tuple[Suggestion, ...] = ()
        self._read_at: int | None = None
        self._prepare()

    def all(self) -> Sequence[Suggestion]:
        """Return every suggestion, oldest first."""
        with self._lock:
            stamp = self._stamp()
            if stamp != self._read_at:
                found = [one for path in list_files(self._folder, "*.json") if (one := self._read(path))]
                self._known = tuple(sorted(found, key=lambda one: (one.at, one.id)))
                self._read_at = stamp
            return self._known

    def get(self, suggestion_id: str) -> Suggestion:
        """Return a suggestion as it is on disk; raises InputError where there is none."""
        path = self._path(suggestion_id)
        found = self._read(path) if path.exists() else None
        if found is None:
            raise InputError(f"there is no suggestion {suggestion_id}")
        return found

    def add(self, suggestion: Suggestion) -> bool:
        """Store a new suggestion; False if one of its id is on file."""
        path = self._path(suggestion.id)
        with self._lock, exclusive_lock(self._folder / ".lock"):
            if path.exists():
                return False
            self._write(path, suggestion)
            return True

    def change(self, suggestion_id: str, change: Callable[[Suggestion], Suggestion]) -> Suggestion:
        """Store what `change` makes of a suggestion; nothing is changed where it raises or the disk refuses."""
        path = self._path(suggestion_id)
        with self._lock, exclusive_lock(self._folder / ".lock"):
            before = self.get(suggestion_id)
            after = change(before)
            if after != before:
                self._write(path, after)
            return after

    def _prepare(self) -> None:
        """Create the folder and sweep what a crash left in it, while nobody writes there."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise refusal(f"cannot use the folder {self._folder}", error, "set TRIAGE_HOME to one you own") from error
        with exclusive_lock(self._folder / ".lock"):
            make_folder(self._folder)

    def _path(self, suggestion_id: str) -> Path:
        return self._folder / f"{check_suggestion_id(suggestion_id)}.json"

    def _write(self, path: Path, suggestion: Suggestion) -> None:
        self._read_at = None
        replace_json(path, suggestion.model_dump(mode="json"))

    def _read(self, path: Path) -> Suggestion | None:
        try:
            found = Suggestion.model_validate(read_json(path))
        except ValidationError:
            self._on_damage(set_aside(path))
            return None
        if found.id != path.stem:
            self._on_damage(set_aside(path))
            return None
        return found

    def _stamp(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError as error:
            raise refusal(f"cannot read {self._folder}", error, "fix its owner") from error
