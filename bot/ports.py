"""What the bot needs of the outside, one small Protocol per concept; adapters and fakes repeat its name.

Nothing here does anything. The docstrings are the contract that tests/contracts/ runs over every implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from bot.domain.alerts import Alert, Posted
from bot.domain.beats import Wake
from bot.domain.jobs import Job, JobKind
from bot.domain.note_facts import Cite
from bot.domain.notes import KeptNote
from bot.domain.overrides import Override
from bot.domain.passages import IndexReport, MemoryHit, Passage
from bot.domain.proposals import Proposal
from bot.domain.rechecks import Recheck
from bot.domain.session import InboxMessage, SessionState
from bot.domain.suggestions import Suggestion
from bot.domain.threads import ThreadState
from bot.domain.week import Week


class Clock(Protocol):
    """The time; tests inject their own."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class Journal(Protocol):
    """An append-only file of JSON objects, one a line."""

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is on disk; raises StoreError when it is not."""
        ...

    def records(self, *, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield every readable record, oldest first, through rotated files too; bad lines are counted and skipped.

        With `last_bytes`, only the records in about that much of the end of the current file.
        """
        ...

    @property
    def bad_lines(self) -> int:
        """How many lines the last reading had to skip."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """A record of a thread that could not be read and was set aside: when it was last written, and whether just now.

    `thread_id` is what its file is called; nobody has checked it.
    """

    thread_id: str
    name: str
    at: datetime
    is_new: bool


class ThreadStore(Protocol):
    """The open threads, one document each; closed ones leave for the archive."""

    def get(self, thread_id: str) -> ThreadState | None:
        """Return the open thread, or None."""
        ...

    def put(self, state: ThreadState) -> ThreadState:
        """Compare-and-set: store `state` if its `version` is still the stored one (0 for a new thread).

        Returns the stored state, its version one higher. Raises Conflict when somebody else was faster,
        StoreError when the disk refuses; in both cases nothing is changed.
        """
        ...

    def threads(self) -> list[ThreadState]:
        """Return every thread in the store, oldest first."""
        ...

    def last_closed(self, thread_id: str) -> ThreadState | None:
        """Return how the thread last ended, or None if it never did."""
        ...

    def archive(self, thread_id: str) -> None:
        """Move a closed thread to closed/<yyyy-mm>/; doing it twice is harmless."""
        ...


def any_job(_: Job) -> bool:
    """Want every job."""
    return True


class JobQueue(Protocol):
    """Durable work, first user jobs, then heartbeats, first-in first-out inside each."""

    def put(self, kind: JobKind, key: str, payload: Mapping[str, Any], *, job_id: str | None = None) -> Job:
        """Store a job; `key` is the thread or session it must not run twice for at once."""
        ...

    def claim(self, wanted: Callable[[Job], bool] = any_job) -> Job | None:
        """Take the next wanted job the caps allow, or return None; a claimed job survives a crash.

        What is not wanted is passed over, and holds up no other job of its key.
        """
        ...

    def end_waits(self) -> None:
        """Have whoever waits in `claim` return, and nobody wait from now on: the process stops."""
        ...

    def done(self, job: Job) -> None:
        """Forget a claimed job."""
        ...

    def give_back(self, job: Job, *, why: str, count: bool = True) -> bool:
        """Return a claimed job to its place; False if that was its last attempt and it went to failed/.

        With `count=False` the attempt is not held against it (the process is stopping, a service is down), but jobs of
        other keys go first.
        """
        ...

    def holds(self, key: str) -> bool:
        """Whether a job for `key` waits or runs."""
        ...


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


class Surface(Protocol):
    """A way to reach people with alerts."""

    def send(self, to: str, alert: Alert) -> Posted:
        """Say an alert to `to` (what that is, the surface knows) and return where it stands.

        Raises ProviderError if the surface refused it, Unconfirmed if nobody can tell.
        """
        ...

    def update(self, to: str, posted: Posted, alert: Alert) -> None:
        """Bring an alert that stands up to date, in place where the surface can; raises as `send` does."""
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

    def overrides(self) -> Mapping[str, Override]:
        """Return every session's overrides, those of other processes included."""
        ...

    def change(self, session_id: str, change: Callable[[Override], Override]) -> Override:
        """Store what `change` makes of a session's overrides and return it; raises StoreError when the disk refuses."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """A chat user as far as the bot cares."""

    user_id: str
    name: str
    team_id: str | None = None
    is_bot: bool = False
    is_guest: bool = False
    is_external: bool = False
    is_deactivated: bool = False
    timezone: str | None = None
    """The IANA zone of their profile, as the chat gives it; None where it gives none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message read back from a chat."""

    message_id: str
    sender_id: str
    text: str
    is_bot: bool = False
    edited: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """How a channel stands: private means that nobody but its members reads there, partners neither."""

    is_private: bool
    is_archived: bool = False


class Workspace(Protocol):
    """What the bot may ask the chat about itself; every call is a network request unless cached."""

    def person(self, user_id: str) -> Person:
        """Return who a user is; raises ProviderError if the chat cannot say."""
        ...

    def permalink(self, chat_id: str, message_id: str) -> str | None:
        """Return a link to a message, or None if it is gone."""
        ...

    def thread(self, chat_id: str, thread_ts: str) -> Sequence[ChatMessage]:
        """Return the messages of a thread, its parent first; empty when the parent is gone."""
        ...

    def channel(self, chat_id: str) -> Channel:
        """Return how a channel stands at this moment; raises ProviderError if the chat cannot say."""
        ...

    def members(self, place_id: str) -> frozenset[str]:
        """Return the user ids in a channel or a user group; raises ProviderError if the chat cannot say."""
        ...


Message = Mapping[str, Any]
"""One message as the chat itself stores it; for Slack, an element of `messages` in its answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Part of a reading, in no particular order; `cursor` asks for the next part, None after the last."""

    messages: Sequence[Message]
    cursor: str | None = None


class History(Protocol):
    """What was said while nobody listened; every call is one network request.

    Raises Unavailable when the chat is down or asks for patience (`retry_after_s`), ProviderError when it refuses.
    """

    def messages(self, chat_id: str, *, oldest: str, cursor: str | None = None) -> Page:
        """Return root messages of a chat from `oldest` (a ts) on."""
        ...

    def replies(self, chat_id: str, thread_ts: str, *, oldest: str = "0", cursor: str | None = None) -> Page:
        """Return a thread's messages from `oldest` on, its root perhaps among them; empty when the root is gone."""
        ...


class Slate(Protocol):
    """One small JSON object that outlives the process."""

    def read(self) -> dict[str, Any]:
        """Return what was written last; an empty object where nothing was, or where it cannot be understood."""
        ...

    def write(self, document: Mapping[str, Any]) -> None:
        """Replace the whole object and return once it is on disk; raises StoreError and changes nothing."""
        ...


class Messenger(Protocol):
    """What the bot says."""

    def show_card(self, state: ThreadState, *, progress: str | None = None) -> tuple[str, str]:
        """Post the thread's card in the ops channel, or update it in place; return `(channel id, ts)`.

        `progress` is one line of plain text on how far the run under way is.
        """
        ...

    def find_card(self, state: ThreadState) -> tuple[str, str] | None:
        """Return `(channel id, ts)` of the thread's card if it stands in the ops channel already.

        Raises Unavailable if there is none and one may yet come: whoever posted it last cannot tell.
        """
        ...

    def post_reply(self, state: ThreadState, text: str) -> str:
        """Post an approved reply in the thread, once, and return its ts.

        Raises ProviderError if the chat refused it (nothing was posted), Unconfirmed if nobody can tell.
        """
        ...

    def find_reply(self, state: ThreadState, text: str) -> str | None:
        """Return the ts of our reply if it already stands in the thread."""
        ...

    def tell_ops(self, text: str) -> None:
        """Say one line of plain text in the ops channel."""
        ...


class Pictures(Protocol):
    """Where the picture of a week is shown to those who watch over the bot."""

    def show(self, week: Week) -> None:
        """Draw a week and post it in the ops channel, its numbers in words beside it for who cannot see it.

        Raises ProviderError if the chat refused it (nothing was posted), Unconfirmed if nobody can tell.
        """
        ...


class PassageIndex(Protocol):
    """Passages of the codebase, ranked for a question."""

    def refresh(self) -> IndexReport:
        """Bring the index up to HEAD; only blobs it has not seen are read."""
        ...

    def search(self, question: str, *, limit: int = 8) -> list[Passage]:
        """Return the best passages at the indexed commit, best first; empty when nothing matches."""
        ...


class MemoryIndex(Protocol):
    """Earlier answers: approved notes in memory/ and posted replies."""

    def search(self, question: str, *, limit: int = 3) -> list[MemoryHit]:
        """Return the notes and replies nearest to a question, best first."""
        ...

    def add(self, name: str, text: str) -> str:
        """Keep a note under `name` or, where that is taken, a numbered one; returns its ref, `memory/<name>.md`.

        The same text under the same name is kept once. Raises StoreError when the disk refuses.
        """
        ...


class NoteShelf(Protocol):
    """The notes of memory/ as files: kept, found by name, given other citations, put away; none is ever deleted."""

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired."""
        ...

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref; None if it was, and nothing happens.

        Raises StoreError when the disk refuses, as all that write do.
        """
        ...

    def find(self, name: str) -> str | None:
        """Return the ref of the note that was kept under a name, a retired one too."""
        ...

    def repin(self, ref: str, cites: Sequence[Cite]) -> bool:
        """Have a note cite other lines, its words untouched; False if it is not there any more."""
        ...

    def retire(self, ref: str) -> str | None:
        """Put a note where no search looks and return its new ref; None if it is not there any more."""
        ...


class RecheckChat(Protocol):
    """Where people are asked about a note whose lines changed."""

    def show(self, recheck: Recheck) -> tuple[str, str]:
        """Post the card, or bring it up to date in place; returns `(channel id, ts)`."""
        ...

    def find(self, recheck: Recheck) -> tuple[str, str] | None:
        """Return where the card stands, if it was posted and nobody knows; raises Unavailable while it may yet come."""
        ...


class Terminal(Protocol):
    """Long runs outside our process, each in a session with a name; they outlive us."""

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        """Start `argv` in a session unless one of this name is alive; its output streams to `log`.

        It sees the variables in `env` and none of ours. Returns the name by which one attaches, None where one cannot;
        raises ProviderError when it cannot be started.
        """
        ...

    def sessions(self) -> frozenset[str]:
        """Return the names of the sessions that are alive, whichever process started them."""
        ...

    def end(self, session: str) -> None:
        """End a session and all that runs in it; harmless when there is none."""
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


class ProposalChat(Protocol):
    """Where proposals are shown, and answered once they were accepted. Every method raises ProviderError."""

    def show(self, proposal: Proposal) -> tuple[str, str]:
        """Post the card of a proposal, or update it in place; returns `(channel id, ts)`."""
        ...

    def find(self, proposal: Proposal) -> tuple[str, str] | None:
        """Return where the card stands, if a run before this one posted it."""
        ...

    def say_done(self, proposal: Proposal) -> str:
        """Post one line in the asker's thread and return its ts; raises Unconfirmed where nobody can tell."""
        ...

    def find_said(self, proposal: Proposal) -> str | None:
        """Return the ts of that line, if it stands in the thread since `said_intent`."""
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
