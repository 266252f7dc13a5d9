"""The cards of suggestions in the ops channel: each stands there once and shows what its file says.

Files change by clicks, by models and by the terminal; a tick brings the cards after them, so that a crash or an outage
costs a card nothing but time.
"""

from __future__ import annotations

import logging
from typing import Final

from blocks import ids
from blocks.cards.suggestion_card import suggestion_blocks, suggestion_text
from bot.domain.sharing.suggestions import Suggestion
from bot.errors import ProviderError
from bot.ports.collections import Collection
from handlers.cards.publisher import Card, CardPublisher, MessageRef

log = logging.getLogger(__name__)

CARDS_A_TICK: Final = 3
"""Slack takes about one post a second in a channel, and the drafts' cards go there too."""


class SuggestionCards:
    """Shows suggestions."""

    def __init__(self, publisher: CardPublisher, store: Collection[Suggestion], *, ops_channel: str) -> None:
        self._publisher, self._store, self._ops_channel = publisher, store, ops_channel

    def tick(self) -> None:
        """Bring a few cards up to date; what the chat refuses is tried again."""
        behind = [one for one in self._store.all() if _is_behind(one)]
        for suggestion in behind[:CARDS_A_TICK]:
            try:
                self.show(suggestion)
            except ProviderError:
                log.info("a suggestion's card waits", extra={"action": "suggestion_card_waits"}, exc_info=True)
                return

    def show(self, suggestion: Suggestion) -> None:
        """Bring a suggestion's card in line, or post it.

        Raises:
            ProviderError: Slack refused it.
            StoreError: where it stands cannot be written down; it is found again.
        """
        card = Card(
            name="a suggestion",
            text=suggestion_text(suggestion),
            blocks=suggestion_blocks(suggestion),
            mark=ids.suggestion_block_id(suggestion.id),
            is_waiting=suggestion.is_waiting,
        )
        at = MessageRef.on_file(suggestion.card_channel or self._ops_channel, suggestion.card_ts)
        stands = self._publisher.publish(self._ops_channel, card, at=at, recorded_at=suggestion.at)
        place = {"card_channel": stands.channel, "card_ts": stands.ts, "card_shows": suggestion.status}
        self._store.change(suggestion.id, lambda now: now.evolve(**place))


def _is_behind(suggestion: Suggestion) -> bool:
    """Whether a card is missing or shows something else; a decision is shown once it is carried out."""
    if suggestion.card_shows == suggestion.status:
        return False
    return suggestion.is_waiting or (suggestion.settled_at is not None and suggestion.card_ts is not None)
