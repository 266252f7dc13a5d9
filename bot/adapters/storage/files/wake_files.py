"""Port WakeBox over wakes/: one empty file for each session and wake, `<session>.<wake>`.

All sessions share the folder, so that the bot looks into one at each tick and not into one for each session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bot.adapters.storage.files.atomic_write import make_folder, remove_file
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import SESSION_ID, check_session_id
from bot.errors import StoreError


class WakeFiles:
    """The folder of wakes of one data directory."""

    def __init__(self, home: Path) -> None:
        self._folder = make_folder(home / "wakes")

    def drop(self, session_id: str, wake: Wake) -> None:
        """Leave a wake; raises StoreError when the disk refuses."""
        path = self._path(session_id, wake)
        try:
            path.touch(mode=0o600)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}; fix the folder's owner") from error

    def left(self) -> Mapping[str, frozenset[Wake]]:
        """Return what was left, by session id; what is no wake is deleted. Raises StoreError like `drop`."""
        try:
            paths = list(self._folder.iterdir())
        except OSError as error:
            raise StoreError(f"cannot look into {self._folder}: {error.strerror}; fix its owner") from error
        found: dict[str, frozenset[Wake]] = {}
        for path in paths:
            session_id, _, kind = path.name.partition(".")
            if SESSION_ID.fullmatch(session_id) and kind in list(Wake):
                found[session_id] = found.get(session_id, frozenset()) | {Wake(kind)}
            else:
                remove_file(path)
        return found

    def forget(self, session_id: str, wakes: Iterable[Wake]) -> None:
        """Delete wakes that have been dealt with; raises StoreError when the disk refuses."""
        for wake in wakes:
            remove_file(self._path(session_id, wake))

    def _path(self, session_id: str, wake: Wake) -> Path:
        return self._folder / f"{check_session_id(session_id)}.{wake}"
