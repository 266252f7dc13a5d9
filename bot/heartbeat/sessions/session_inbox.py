"""Messages between sessions: an assignment wakes who gets it, unless its own work led to the message.

A message carries whose beats led to it (`data.caused_by`); none of those is woken by it, so that two sessions cannot
wake each other for ever. Who is not woken reads it at the next beat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.ports import SessionStore

CAUSED_BY: Final = "caused_by"


class SessionInbox:
    """Sends messages; `wake` is the scheduler's."""

    def __init__(self, sessions: SessionRegistry, store: SessionStore, wake: Callable[[str, Wake], str]) -> None:
        self._sessions, self._store, self._wake = sessions, store, wake

    def send(self, message: InboxMessage, *, after: Iterable[InboxMessage] = ()) -> str:
        """Put a message into an inbox and wake its reader if it should be; `after` is what its writer had just read.

        Returns what becomes of the wake, in one sentence; "" where nobody is woken.

        Raises:
            InputError: the reader is no session.
            StoreError: the disk refuses it.
        """
        self._sessions.get(message.to)
        traced = message.evolve(data={**message.data, CAUSED_BY: sorted(causes(message).union(*map(causes, after)))})
        self._store.send(traced)
        return self._wake(traced.to, Wake.ASSIGNMENT) if wakes_its_reader(traced) else ""


def causes(message: InboxMessage) -> frozenset[str]:
    """Return whose work led to a message: its writer's, and that of whoever wrote what the writer had read."""
    earlier = message.data.get(CAUSED_BY)
    return frozenset(
        {message.from_, *(str(name) for name in earlier)} if isinstance(earlier, list) else {message.from_}
    )


def wakes_its_reader(message: InboxMessage) -> bool:
    """Whether a message is a reason to beat at once."""
    return message.kind is MessageKind.ASSIGNMENT and message.to not in causes(message)
