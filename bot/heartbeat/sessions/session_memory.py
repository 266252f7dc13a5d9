"""What is remembered of each session between beats, and the messages in its inbox."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from bot.domain.heartbeats.session_state import InboxMessage, SessionState
from bot.ports import Store
from bot.ports.collections import SESSIONS, Collection, OnDamage, inbox_of, silently


class SessionMemory:
    """Every session's state and inbox; ids are checked: InputError for a bad one, StoreError where the disk refuses.

    One process writes states; others may read them and append to inboxes. A state that cannot be read is set aside;
    beats go on from the defaults, which means more attention, not less.
    """

    def __init__(self, store: Store, *, on_damage: OnDamage = silently) -> None:
        self._states, self._journal = Collection(store.documents, SESSIONS, on_damage=on_damage), store.journal

    def load(self, session_id: str) -> SessionState:
        """Return the session's state, or the defaults."""
        return self._states.get(session_id)

    def save(self, session_id: str, change: Callable[[SessionState], SessionState]) -> SessionState:
        """Store what `change` makes of the state, and return it; no change overwrites another.

        What `change` raises goes through, and nothing has changed.
        """
        return self._states.change(session_id, change)

    def inbox(self, session_id: str) -> list[InboxMessage]:
        """Return the messages after `inbox_read`, which no beat has dealt with, oldest first; bad lines are skipped."""
        state, messages = self.load(session_id), []
        for record in self._journal(inbox_of(session_id)).records():
            try:
                messages.append(InboxMessage.model_validate(record))
            except ValidationError:
                continue
        return messages[state.inbox_read :]

    def send(self, message: InboxMessage) -> None:
        """Put a message into the inbox of its `to` and return once it is on disk; it wakes nobody."""
        self.load(message.to)  # what stands in the place of its folder is set aside
        self._journal(inbox_of(message.to)).append(message.model_dump(mode="json"))
