"""What every piece of casework has at hand: the settings, the stores and the chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from bot.casework.acknowledgements import Acknowledgements
from bot.casework.card_updates import CardUpdates
from bot.config.settings import Settings
from bot.domain.threads import CardShown
from bot.ports import Clock, JobQueue, Journal, Messenger, NoteIndex, Workspace
from bot.ports.collections import Collection
from bot.ports.threads import Threads


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
    known_secrets: frozenset[str] = frozenset()
    chat_ahead: Callable[[], timedelta] = timedelta
    """How far `clock` is ahead of the chat's own."""
    cards: CardUpdates = field(init=False)

    def __post_init__(self) -> None:
        cards = CardUpdates(
            self.store,
            self.messenger,
            self.workspace,
            self.clock,
            ops_channel=self.settings.ops_channel,
            asker=self.asker,
            shown=self.shown,
        )
        object.__setattr__(self, "cards", cards)
