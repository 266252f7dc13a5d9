"""Port OverrideStore over overrides.json: `{<session>: {enabled, every}}`, replaced as a whole.

The bot and the terminal both write it, each under a lock the kernel releases, and each reads again what the other
wrote. A file that cannot be read is set aside and told to `on_damage`; triage.yml alone decides from then on.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.adapters.storage.files.atomic_write import read_json, replace_json, set_aside
from bot.domain.heartbeats.session_state import SessionOverride, check_session_id
from bot.errors import StoreError

_FILE: Final = TypeAdapter(dict[str, SessionOverride])

Stamp = tuple[int, int, int] | None


class OverrideFile:
    """The overrides of one data directory."""

    def __init__(self, home: Path, *, on_damage: Callable[[Path], None]) -> None:
        self._path = home / "overrides.json"
        self._on_damage = on_damage
        self._lock = threading.RLock()
        self._read_at: Stamp = None
        self._known: Mapping[str, SessionOverride] = {}

    def overrides(self) -> Mapping[str, SessionOverride]:
        """Return every session's overrides; the file is read again only after it changed."""
        with self._lock:
            stamp = self._stamp()
            if stamp != self._read_at:
                self._known, self._read_at = self._read(), stamp
            return self._known

    def change(self, session_id: str, change: Callable[[SessionOverride], SessionOverride]) -> SessionOverride:
        """Store what `change` makes of a session's overrides; raises StoreError when the disk refuses."""
        check_session_id(session_id)
        with self._lock, self._alone():
            known = dict(self.overrides())
            known[session_id] = change(known.get(session_id, SessionOverride()))
            replace_json(
                self._path, _FILE.dump_python({k: v for k, v in known.items() if v != SessionOverride()}, mode="json")
            )
            return known[session_id]

    def _read(self) -> Mapping[str, SessionOverride]:
        if not self._path.exists():
            return {}
        try:
            return _FILE.validate_python(read_json(self._path))
        except ValidationError:
            self._on_damage(set_aside(self._path))
            return {}

    def _stamp(self) -> Stamp:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"cannot read {self._path}: {error.strerror}; fix its owner") from error
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            handle = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"cannot lock {self._path}: {error.strerror}; fix the folder's owner") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
