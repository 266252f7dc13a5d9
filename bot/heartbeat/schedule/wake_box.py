"""Wakes that another process, such as the terminal's, leaves for the bot: one document each, `<session>.<wake>`.

All sessions share the collection, so that the bot looks into one at each tick and not into one for each session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import SESSION_ID, check_session_id
from bot.errors import Conflict
from bot.ports import Documents
from bot.ports.collections import WAKES


class WakeBox:
    """The wakes of all sessions; every method raises StoreError where the disk refuses.

    With `is_shared` another replica may be the one that schedules.
    """

    def __init__(self, documents: Documents, *, is_shared: bool = False) -> None:
        self._documents, self._is_shared = documents, is_shared

    def drop(self, session_id: str, wake: Wake) -> None:
        """Leave a wake; the same one twice is one. Raises InputError for what is no session's id."""
        with suppress(Conflict):
            self._documents.put(WAKES, f"{check_session_id(session_id)}.{wake}", {}, version=0)

    def share(self, session_id: str, wake: Wake) -> None:
        """Leave a wake to whoever schedules, if that may be another replica."""
        if self._is_shared:
            self.drop(session_id, wake)

    def left(self) -> Mapping[str, frozenset[Wake]]:
        """Return what was left and not forgotten, by session id; what is no wake is deleted."""
        found: dict[str, frozenset[Wake]] = {}
        for document in self._documents.list(WAKES):
            session_id, _, kind = document.id.partition(".")
            if SESSION_ID.fullmatch(session_id) and kind in list(Wake):
                found[session_id] = found.get(session_id, frozenset()) | {Wake(kind)}
            else:
                self._remove(document.id)
        return found

    def forget(self, session_id: str, wakes: Iterable[Wake]) -> None:
        """Remove wakes that have been dealt with; those that are gone already are no error."""
        for wake in wakes:
            self._remove(f"{session_id}.{wake}")

    def _remove(self, doc_id: str) -> None:
        document = self._documents.get(WAKES, doc_id)
        if document is not None:
            with suppress(Conflict):
                self._documents.delete(WAKES, doc_id, version=document.version)
