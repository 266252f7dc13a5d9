"""Port SessionStore over sessions/<id>/: heartbeat_state.json, replaced as a whole, and inbox.ndjson.

One process writes states (see bot/adapters/storage/files/file_leases.py); others may read them and append to inboxes.
A state that cannot be read, or what stands in the place of a session's folder, is set aside and told to `on_damage`;
beats go on from the defaults, which means more attention, not less.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ValidationError

from bot.adapters.storage.files.atomic_write import (
    make_folder,
    read_json,
    replace_json,
    set_aside,
    set_aside_non_folders,
)
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.domain.heartbeats.session_state import InboxMessage, SessionState, check_session_id

STATE = "heartbeat_state.json"
INBOX = "inbox.ndjson"


class SessionFiles:
    """Every session's memory; states are kept in memory once read, for the scheduler looks at all of them often."""

    def __init__(self, home: Path, *, on_damage: Callable[[str], None]) -> None:
        self._folder = home / "sessions"
        self._on_damage = on_damage
        self._lock = threading.RLock()
        self._states: dict[str, SessionState] = {}
        self._inboxes: dict[str, NdjsonJournal] = {}

    def load(self, session_id: str) -> SessionState:
        """Return the session's state, or the defaults; raises StoreError where the file cannot be opened."""
        known = self._states.get(session_id)
        if known is not None:
            return known
        with self._lock:
            state = self._read(self._folder / check_session_id(session_id) / STATE)
            return self._states.setdefault(session_id, state)

    def save(self, session_id: str, change: Callable[[SessionState], SessionState]) -> SessionState:
        """Store what `change` makes of the state; raises StoreError when the disk refuses, and nothing has changed."""
        with self._lock:
            before = self.load(session_id)
            after = change(before)
            if after != before:
                replace_json(self._of(session_id) / STATE, after.model_dump(mode="json"))
                self._states[session_id] = after
            return after

    def inbox(self, session_id: str) -> list[InboxMessage]:
        """Return the messages no beat has dealt with, oldest first; bad lines are skipped."""
        path = self._folder / check_session_id(session_id) / INBOX
        if not path.exists():
            return []
        return list(self._messages(session_id))[self.load(session_id).inbox_read :]

    def send(self, message: InboxMessage) -> None:
        """Append a message to the inbox of its `to`; raises StoreError when the disk refuses."""
        self._journal(message.to).append(message.model_dump(mode="json"))

    def _read(self, path: Path) -> SessionState:
        if not path.exists():
            return SessionState()
        try:
            return SessionState.model_validate(read_json(path))
        except ValidationError:
            self._on_damage(str(set_aside(path)))
            return SessionState()

    def _messages(self, session_id: str) -> Iterator[InboxMessage]:
        for record in self._journal(session_id).records():
            try:
                yield InboxMessage.model_validate(record)
            except ValidationError:
                continue

    def _journal(self, session_id: str) -> NdjsonJournal:
        with self._lock:
            if session_id not in self._inboxes:
                self._inboxes[session_id] = NdjsonJournal(self._of(session_id) / INBOX)
            return self._inboxes[session_id]

    def _of(self, session_id: str) -> Path:
        folder = self._folder / check_session_id(session_id)
        for moved in set_aside_non_folders([self._folder, folder]):
            self._on_damage(str(moved))
        return make_folder(folder)
