"""What every piece of casework has at hand: the settings, the stores and the chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from bot.casework.acknowledgements import Acknowledgements
from bot.casework.card_updates import CardUpdates
from bot.config.settings import Settings
from bot.config.team_settings import WatchedChat
from bot.domain.threads import CardShown
from bot.ports import Clock, JobQueue, Journal, Leases, Messenger, NoteIndex, Workspace
from bot.ports.collections import Collection
from bot.ports.threads import Threads


class ChannelCodebases:
    """Which of the team's codebases the questions of each channel are about, by their ids."""

    def __init__(self, chats: Iterable[WatchedChat]) -> None:
        self.watch(chats)

    def watch(self, chats: Iterable[WatchedChat]) -> None:
        """Take over what these channels pick; an investigation under way keeps what it began with."""
        self._picked = {chat.chat_id: chat.codebases or () for chat in chats}

    def picked(self, chat_id: str) -> tuple[str, ...]:
        """Return what a channel picks; nothing: all of the team's."""
        return self._picked.get(chat_id, ())


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadService:
    """The outside world as casework sees it."""

    settings: Settings
    store: Threads
    jobs: JobQueue
    messenger: Messenger
    workspace: Workspace
    memory: NoteIndex
    replies: Journal
    clock: Clock
    asker: Acknowledgements
    shown: Collection[CardShown]
    leases: Leases | None = None
    """Where other replicas work on the same threads; None where no other process does."""
    known_secrets: frozenset[str] = frozenset()
    chat_ahead: Callable[[], timedelta] = timedelta
    """How far `clock` is ahead of the chat's own."""
    cards: CardUpdates = field(init=False)
    codebases: ChannelCodebases = field(init=False)

    def __post_init__(self) -> None:
        cards = CardUpdates(
            self.store,
            self.messenger,
            self.workspace,
            self.clock,
            ops_channel=self.settings.ops_channel,
            asker=self.asker,
            shown=self.shown,
            is_shared=self.leases is not None,
        )
        object.__setattr__(self, "cards", cards)
        object.__setattr__(self, "codebases", ChannelCodebases(self.settings.watched_chats))
