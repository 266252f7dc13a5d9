"""Messages between sessions, and what a person gives a session to do.

An assignment wakes who gets it, unless they wrote it themselves; reports and suggestions wake nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import ChangedBy, InboxMessage, MessageKind
from bot.domain.secrets import redact
from bot.domain.text.sanitize import check_whole, has_visible, one_line, strip_hidden
from bot.errors import InputError
from bot.heartbeat.sessions.session_registry import SessionMemory, SessionRegistry

MAX_CHARS: Final = 2_000
SHOWN_CHARS: Final = 200


class SessionInbox:
    """Sends messages; `wake` is the scheduler's."""

    def __init__(self, sessions: SessionRegistry, store: SessionMemory, wake: Callable[[str, Wake], str]) -> None:
        self._sessions, self._store, self._wake = sessions, store, wake

    def send(self, message: InboxMessage) -> str:
        """Put a message into an inbox and wake its reader if it should be.

        Returns what becomes of the wake, in one sentence; "" where nobody is woken.

        Raises:
            InputError: the reader is no session.
            StoreError: the disk refuses it.
        """
        self._sessions.get(message.to)
        self._store.send(message)
        return self._wake(message.to, Wake.ASSIGNMENT) if wakes_its_reader(message) else ""


def wakes_its_reader(message: InboxMessage) -> bool:
    """Whether a message is a reason to beat at once."""
    return message.kind is MessageKind.ASSIGNMENT and message.to != message.from_


class Assigning:
    """Puts assignments into inboxes; `known_secrets` are blacked out in them, as are all that look like secrets."""

    def __init__(self, sessions: SessionRegistry, mail: SessionInbox, known_secrets: Collection[str] = ()) -> None:
        self._sessions, self._mail, self._secrets = sessions, mail, known_secrets

    def assign(self, session_id: str, text: str, by: ChangedBy) -> str:
        """Put an assignment into the session's inbox and wake it; return what was queued and what to type next.

        Raises:
            InputError: there is no such session, or the text is empty, too long or holds characters nobody sees.
            StoreError: the disk refuses it.
        """
        session = self._sessions.get(session_id)
        said = redact(_checked(text, session.id), self._secrets)
        woken = self._mail.send(
            InboxMessage(
                at=by.at,
                from_=sender(by),
                to=session.id,
                kind=MessageKind.ASSIGNMENT,
                text=said,
                data={"assigned_by": by.id},
            )
        )
        queued = f"Assigned to {session.id}: “{one_line(said, SHOWN_CHARS)}”. It waits in the inbox for the next beat."
        return f"{queued} {woken}"


def sender(by: ChangedBy) -> str:
    """Return a person as an inbox names them; the sign keeps them apart from a session of that name."""
    return f"@{one_line(by.name, 80)}"


def _checked(text: str, session_id: str) -> str:
    """Return the text, stripped, if every character of it is one that its readers see."""
    check_whole(text)
    lines, hidden = strip_hidden(text)
    if hidden:
        raise InputError(
            f"The text contains {hidden} invisible character{'s' * (hidden != 1)}, so nothing was assigned;",
            next_step=f"type it by hand instead of pasting it: /triage heartbeat assign {session_id} <text>",
        )
    if not has_visible(lines):
        raise InputError(
            "What is to be done?", next_step=f"Type /triage heartbeat assign {session_id} Look at the error rate"
        )
    if len(lines.strip()) > MAX_CHARS:
        raise InputError(
            f"The text has {len(lines.strip()):,} characters, so nothing was assigned; at most {MAX_CHARS:,}:",
            next_step=f"/triage heartbeat assign {session_id} <text>",
        )
    return lines.strip()
