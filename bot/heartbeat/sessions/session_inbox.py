"""Messages between sessions, what a person gives a session to do, and wakes that another process leaves for the bot.

An assignment wakes who gets it, unless they wrote it themselves; reports and suggestions wake nobody. A wake is one
document, `<session>.<wake>`; all sessions share the collection, so that the bot looks into one at each tick and not
into one for each session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Final

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import SESSION_ID, ChangedBy, InboxMessage, MessageKind, check_session_id
from bot.domain.secrets import redact
from bot.domain.text.sanitize import check_whole, has_visible, one_line, strip_hidden
from bot.errors import Conflict, InputError
from bot.heartbeat.sessions.session_registry import SessionMemory, SessionRegistry
from bot.ports import Documents
from bot.ports.collections import WAKES

MAX_CHARS: Final = 2_000
SHOWN_CHARS: Final = 200


class SessionInbox:
    """Sends messages; `wake` is the scheduler's.

    `known_secrets` are blacked out in assignments, as are all that look like secrets.
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        wake: Callable[[str, Wake], str],
        known_secrets: Collection[str] = (),
    ) -> None:
        self._sessions, self._store, self._wake, self._secrets = sessions, store, wake, known_secrets

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

    def assign(self, session_id: str, text: str, by: ChangedBy) -> str:
        """Put an assignment into the session's inbox and wake it; return what was queued and what to type next.

        Raises:
            InputError: there is no such session, or the text is empty or too long.
            StoreError: the disk refuses it.
        """
        session = self._sessions.get(session_id)
        said = redact(_checked(text, session.id), self._secrets)
        woken = self.send(
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


def wakes_its_reader(message: InboxMessage) -> bool:
    """Whether a message is a reason to beat at once."""
    return message.kind is MessageKind.ASSIGNMENT and message.to != message.from_


def sender(by: ChangedBy) -> str:
    """Return a person as an inbox names them; the sign keeps them apart from a session of that name."""
    return f"@{one_line(by.name, 80)}"


def _checked(text: str, session_id: str) -> str:
    """Return the text, stripped, without characters that its readers do not see."""
    said = strip_hidden(check_whole(text))[0].strip()
    if not has_visible(said):
        raise InputError(
            "What is to be done?", next_step=f"Type /triage heartbeat assign {session_id} Look at the error rate"
        )
    if len(said) > MAX_CHARS:
        raise InputError(
            f"The text has {len(said):,} characters, so nothing was assigned; at most {MAX_CHARS:,}:",
            next_step=f"/triage heartbeat assign {session_id} <text>",
        )
    return said


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
