"""What heartbeats keep of a session, and what is decided about one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import InboxMessage, SessionOverride, SessionState
from bot.domain.playbooks.proposals import Proposal
from bot.domain.sharing.suggestions import Suggestion


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


class WakeBox(Protocol):
    """Wakes that another process, such as the terminal's, leaves for the bot."""

    def drop(self, session_id: str, wake: Wake) -> None:
        """Leave a wake; the same one twice is one. Raises StoreError when the disk refuses."""
        ...

    def left(self) -> Mapping[str, frozenset[Wake]]:
        """Return what was left and not forgotten, by session id."""
        ...

    def forget(self, session_id: str, wakes: Iterable[Wake]) -> None:
        """Remove wakes that have been dealt with; those that are gone already are no error."""
        ...


class OverrideStore(Protocol):
    """What people have switched by command, over triage.yml; it survives restarts."""

    def overrides(self) -> Mapping[str, SessionOverride]:
        """Return every session's overrides, those of other processes included."""
        ...

    def change(self, session_id: str, change: Callable[[SessionOverride], SessionOverride]) -> SessionOverride:
        """Store what `change` makes of a session's overrides and return it; raises StoreError when the disk refuses."""
        ...


class ProposalStore(Protocol):
    """What people asked to have changed in playbooks; all of it stays on file. InputError for what is no id."""

    def unsettled(self) -> Sequence[Proposal]:
        """Return those that wait for somebody, or for what their decision leads to, oldest first."""
        ...

    def get(self, proposal_id: str) -> Proposal | None:
        """Return a proposal, or None where there is none of this id."""
        ...

    def put(self, proposal: Proposal) -> Proposal:
        """Store a proposal and return it; raises StoreError when the disk refuses."""
        ...

    def change(self, proposal_id: str, change: Callable[[Proposal], Proposal]) -> Proposal:
        """Store what `change` makes of a proposal and return it; two changes never overlap.

        Raises InputError where there is none, StoreError when the disk refuses, and what `change` raises; nothing is
        changed then.
        """
        ...


class SuggestionStore(Protocol):
    """What sessions were offered; every suggestion stays on file. Ids are checked: InputError for a bad one."""

    def all(self) -> Sequence[Suggestion]:
        """Return every suggestion, oldest first; one that cannot be read is set aside."""
        ...

    def get(self, suggestion_id: str) -> Suggestion:
        """Return a suggestion; raises InputError where there is none of this id."""
        ...

    def add(self, suggestion: Suggestion) -> bool:
        """Store a suggestion unless one of its id is on file; False then. Raises StoreError when the disk refuses."""
        ...

    def change(self, suggestion_id: str, change: Callable[[Suggestion], Suggestion]) -> Suggestion:
        """Store what `change` makes of a suggestion and return it; no two changes overlap, whoever makes them.

        Raises InputError where there is none of this id, StoreError when the disk refuses, and what `change` raises;
        nothing is changed then.
        """
        ...


class DecisionLog(Protocol):
    """decisions.md: one line for each thing that was decided, for people to read."""

    def note(self, mark: str, line: str) -> None:
        """Append a line unless one that holds `mark` is there; raises StoreError when the disk refuses."""
        ...
