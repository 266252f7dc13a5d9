"""Ports to the chat: people and channels, messages read, and everything the bot posts.

Also how long a post of a process that died, or over a broken connection, may still arrive. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:  # every command imports the ports, and few of them the chat
    from bot.domain.acknowledgement import Reaction
    from bot.domain.heartbeats.alerts import Alert, Place
    from bot.domain.questions.autonomy_record import AutoReply
    from bot.domain.questions.feedback import Feedback
    from bot.domain.threads import ThreadState

IN_FLIGHT: Final = timedelta(seconds=10)
"""How long after it was sent a post may still reach its channel, though whoever sent it cannot tell."""

Message = Mapping[str, Any]
"""One message as the chat itself stores it; for Slack, an element of `messages` in its answers."""


def may_still_arrive(sent_at: datetime, now: datetime) -> bool:
    """Whether a post that is not to be found may yet come; a time in the future, a wrong clock's, says nothing.

    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> [may_still_arrive(now - timedelta(seconds=s), now) for s in (-1, 0, 9, 10)]
    [False, True, True, False]
    """
    return timedelta() <= now - sent_at < IN_FLIGHT


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """A chat user as far as the bot cares."""

    user_id: str
    name: str
    team_id: str | None = None
    team_ids: frozenset[str] = frozenset()
    """The ids under which a colleague of a sister workspace may come: all their workspaces, and the company's."""
    is_bot: bool = False
    is_guest: bool = False
    is_external: bool = False
    is_deactivated: bool = False
    timezone: str | None = None
    """The IANA zone of their profile, as the chat gives it; None where it gives none."""


def is_stranger(person: Person) -> bool:
    """Whether somebody is a guest or of another company, whose words count with `watcher.allow_external` only."""
    return person.is_guest or person.is_external


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message read back from a chat."""

    message_id: str
    sender_id: str
    text: str
    is_bot: bool = False
    edited: bool = False
    reply_mark: str | None = None
    """The mark of an approved reply, if our bot posted this as one (`bot.domain.threads.reply_mark`)."""
    long_files: tuple[str, ...] = ()
    """The file ids of its text files and snippets of which `text` has the beginning only."""
    images: tuple[str, ...] = ()
    """The file ids of its images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image that a model can be shown; `media_type` is what its bytes are: image/png, jpeg, gif or webp."""

    media_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """How a channel stands: private means that nobody but its members reads there, partners neither."""

    is_private: bool
    is_archived: bool = False


class Workspace(Protocol):
    """What the bot may ask the chat about itself; every call is a network request unless cached."""

    def person(self, user_id: str, *, fresh: bool = False) -> Person:
        """Return who a user is; `fresh` asks even where the answer is known. Raises ProviderError if it cannot say."""

    def permalink(self, chat_id: str, message_id: str) -> str | None:
        """Return a link to a message, or None if it is gone."""

    def thread(self, chat_id: str, thread_ts: str) -> Sequence[ChatMessage]:
        """Return the messages of a thread, its parent first; empty when the parent is gone."""

    def thread_above(self, chat_id: str, message_id: str) -> str | None:
        """Return the thread of the message above another one in a channel, None for none; raises ProviderError."""

    def channel(self, chat_id: str) -> Channel:
        """Return how a channel stands at this moment; raises ProviderError if the chat cannot say."""

    def members(self, place_id: str) -> frozenset[str]:
        """Return the user ids in a channel or a user group; raises ProviderError if the chat cannot say."""

    def user_groups(self) -> Sequence[tuple[str, str]]:
        """Return the id and the name of each user group; none where the chat cannot say."""

    def user_of(self, email: str) -> str | None:
        """Return the id of the user with an address; None where there is none, or the chat cannot say."""


class Attachments(Protocol):
    """The files of messages; each method raises ProviderError that says why one is not read."""

    def image(self, file_id: str) -> Image:
        """Return an image as it stands in the chat."""

    def text(self, file_id: str) -> str:
        """Return the beginning of a text file, without credentials; nobody else's words are more than data."""


class ChatHistory(Protocol):
    """What was said while nobody listened, read page by page, in no particular order.

    Each page is one network request, which raises Unavailable when the chat is down, or asks for more patience than it
    gets (`retry_after_s`), and ProviderError when it refuses.
    """

    def messages(self, chat_id: str, *, oldest: str) -> Iterable[Message]:
        """Yield root messages of a chat from `oldest` (a ts) on."""

    def replies(self, chat_id: str, thread_ts: str, *, oldest: str = "0") -> Iterable[Message]:
        """Yield a thread's messages from `oldest` on, its root perhaps among them; none when the root is gone."""

    def direct_chats(self) -> Iterable[str]:
        """Yield the ids of people's direct messages with the bot."""


class Messenger(Protocol):
    """What the bot says."""

    def show_card(
        self, state: ThreadState, *, progress: str | None = None, after: str | None = None
    ) -> tuple[str, str]:
        """Post the thread's card in the ops channel, or update it in place; return `(channel id, ts)`.

        A card that is not on file is looked for before it is posted. `progress` is one line of plain text on how far
        the run under way is; `after` is the ts of the card that the thread had when it was last closed: that one is
        not looked for.

        Raises Unavailable if there is none and one may yet come: whoever posted it last cannot tell.
        """

    def card_digest(self, state: ThreadState) -> str:
        """Return a hash of what the thread's card shows now; asks the chat nothing."""

    def has_card(self, state: ThreadState) -> bool:
        """Whether the card on file still stands in the ops channel; raises ProviderError if the chat cannot say."""

    def remove_card(self, state: ThreadState) -> None:
        """Delete the card on file, which nobody is to decide on any more; one that cannot be deleted stays.

        Raises:
            Unavailable: the chat cannot be reached.
        """

    def post_reply(self, state: ThreadState, text: str) -> str:
        """Post an approved reply in the thread, once, and return its ts.

        Raises ProviderError if the chat refused it (nothing was posted), Unconfirmed if nobody can tell.
        """

    def delete_reply(self, state: ThreadState, ts: str) -> None:
        """Delete a reply of ours, because the same question was answered a moment before; raises ProviderError."""

    def tell_ops(self, text: str) -> None:
        """Say one line of plain text in the ops channel."""


class Surface(Protocol):
    """A way to reach people with alerts."""

    def send(self, to: str, alert: Alert) -> Sequence[Place]:
        """Say an alert to `to` (what that is, the surface knows) and return where it stands, at least one place.

        Raises ProviderError if the surface refused it, Unconfirmed if nobody can tell.
        """

    def update(self, at: Place, alert: Alert) -> None:
        """Bring an alert up to date where it stands, in place where the surface can; raises as `send` does.

        Of a place whose channel is `webhook` the address is given instead.
        """


class PageRing(NamedTuple):
    """One ring of a question that pages; `number` counts from 1, `waited` is how long nobody has acknowledged it."""

    state: ThreadState
    number: int
    waited: timedelta


class PageChat(Protocol):
    """Where a question that pages is said again. What stands there already is found and not posted twice.

    Each method raises ProviderError if the chat refused it or nobody can tell: whoever calls it again posts no second.
    """

    def ring(self, rings: Sequence[PageRing]) -> None:
        """Ring in the ops channel; several pages that are due together in one message."""

    def escalate(self, state: ThreadState, to: str, *, waited: timedelta) -> None:
        """Tell a user, each member of a user group, or a channel; of a group it was told if one of them was."""

    def hand_over(self, state: ThreadState) -> None:
        """Tell the assignee of a thread, or each member of their user group, in private who gave it to them."""


class LiveRun(Protocol):
    """The steps of one run, below the card of its thread. Each method raises ProviderError."""

    def show(self, steps: Sequence[str]) -> None:
        """Show the steps so far, plain text, the last one as under way; called at most once in 3 s."""

    def end(self, steps: Sequence[str], said: str) -> None:
        """Show that the run is over, and fold its steps."""


class LiveWork(Protocol):
    """Where people see what a run does."""

    def begin(self, state: ThreadState, title: str) -> LiveRun:
        """Return where the steps of a run are shown; asks the chat nothing yet."""

    def fold_left(self, thread_id: str) -> None:
        """Fold what a thread's run shows that ended with its process; raises Unavailable where it works later."""


class AskerChat(Protocol):
    """How who asked hears that their question is being looked into.

    Every method raises ProviderError where the chat refuses (`code` says why), Unavailable where the same works later.
    """

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Put our reaction on a message; harmless where it stands already."""

    def remove_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        """Take our reaction from a message; harmless where it does not stand."""

    def tell_asker(self, state: ThreadState, text: str) -> None:
        """Say a line beside the question that only its asker sees."""


class DirectChat(Protocol):
    """Somebody's direct messages with the bot. Both raise ProviderError where the chat refuses for now."""

    def tell(self, chat_id: str, thread_ts: str, text: str, *, about: str) -> None:
        """Say a line in the thread of a message, once for each `about` (an id), whatever died in between."""

    def show_working(self, state: ThreadState, *, is_working: bool) -> None:
        """Set or clear the native status of a thread, where the chat has one."""


class AuditChat(Protocol):
    """Where people see what was sent without them. Every method raises ProviderError."""

    def show(self, reply: AutoReply) -> tuple[str, str]:
        """Bring the audit card in line, or post it; returns `(channel id, ts)`.

        One of which nothing is on file is looked for first; raises Unavailable while it may yet come.
        """

    def withdraw(self, reply: AutoReply) -> None:
        """Have the reply in the asker's thread say that it was taken back; harmless where it is gone or says so."""


class FeedbackChat(Protocol):
    """Where approvers are told, below the card of a thread, that its reply did not help. Both raise ProviderError."""

    def is_told(self, state: ThreadState, feedback: Feedback) -> bool:
        """Whether that stands there."""

    def tell(self, state: ThreadState, feedback: Feedback) -> None:
        """Say it, without looking first; raises Unconfirmed where nobody can tell."""


class CardFiles(Protocol):
    """Where a text that is too long for a card is put: as a file in the card's thread."""

    def show(self, state: ThreadState, *, filename: str, title: str, text: str, said: str) -> None:
        """Post a file below a thread's card, with a line of plain text.

        Raises ProviderError if the chat refused it or nobody can tell; a thread without a card gets none.
        """
