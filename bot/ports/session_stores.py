"""What heartbeats keep of a session, and what is decided about one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from bot.domain.heartbeats.session_state import InboxMessage, SessionState


class SessionStore(Protocol):
    """What is remembered of each session between beats, and its inbox. Ids are checked: InputError for a bad one."""

    def load(self, session_id: str) -> SessionState:
        """Return the session's state; the defaults where there is none or it cannot be read (then it is set aside)."""
        ...

    def save(self, session_id: str, change: Callable[[SessionState], SessionState]) -> SessionState:
        """Store what `change` makes of the state, and return it; two changes never overlap.

        Raises StoreError when the disk refuses; the state is then what it was. What `change` raises goes through.
        """
        ...

    def inbox(self, session_id: str) -> list[InboxMessage]:
        """Return the messages after `inbox_read`, which no beat has dealt with, oldest first; bad lines are skipped."""
        ...

    def send(self, message: InboxMessage) -> None:
        """Put a message into the inbox of its `to` and return once it is on disk; it wakes nobody."""
        ...


class DecisionLog(Protocol):
    """decisions.md: one line for each thing that was decided, for people to read."""

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; raises StoreError when the disk refuses."""
        ...
