"""The cards of suggestions in the ops channel: each stands there once and shows what its file says.

Files change by clicks, by models and by the terminal; a tick brings the cards after them, so that a crash or an outage
costs a card nothing but time.
"""

from __future__ import annotations

import logging
from typing import Final

from slack_sdk import WebClient

from blocks import ids
from blocks.cards.suggestion_card import suggestion_blocks, suggestion_text
from bot.domain.sharing.suggestions import Suggestion
from bot.errors import ProviderError
from bot.ports import SuggestionStore
from handlers.transport.poster import Poster, slack_time, update_message
from handlers.transport.rate_limits import CARD

log = logging.getLogger(__name__)

CARDS_A_TICK: Final = 3
"""Slack takes about one post a second in a channel, and the drafts' cards go there too."""


class SuggestionCards:
    """Shows suggestions."""

    def __init__(self, client: WebClient, poster: Poster, store: SuggestionStore, *, ops_channel: str) -> None:
        self._client, self._poster, self._store, self._ops_channel = client, poster, store, ops_channel

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
        """Post a suggestion's card, or bring it up to date in place.

        Raises:
            ProviderError: Slack refused it.
            StoreError: where it stands cannot be written down; it is found again.
        """
        ts = suggestion.card_ts or self._find(suggestion)
        if ts is None:
            ts = self._post(suggestion)
        else:
            self._update(suggestion, ts)
        place = {"card_channel": self._ops_channel, "card_ts": ts, "card_shows": suggestion.status}
        self._store.change(suggestion.id, lambda now: now.evolve(**place))

    def _post(self, suggestion: Suggestion) -> str:
        answer = self._poster.post(
            self._ops_channel,
            suggestion_text(suggestion),
            suggestion_blocks(suggestion),
            what="post a suggestion",
            rank=CARD,
            mark=ids.suggestion_block_id(suggestion.id),
        )
        return str(answer["ts"])

    def _update(self, suggestion: Suggestion, ts: str) -> None:
        channel = suggestion.card_channel or self._ops_channel
        try:
            text, blocks = suggestion_text(suggestion), suggestion_blocks(suggestion)
            update_message(self._client, channel, ts, text, blocks, what="update a suggestion")
        except ProviderError as error:
            if error.code != "message_not_found":
                raise
            log.info("the card of %s is gone", suggestion.id, extra={"action": "suggestion_card_gone"})

    def _find(self, suggestion: Suggestion) -> str | None:
        """Return the ts of the card if it was posted and nobody knows."""
        return self._poster.find(
            self._ops_channel,
            ids.suggestion_block_id(suggestion.id),
            what="look for a suggestion",
            recorded_at=suggestion.at,
            since=slack_time(suggestion.at),
        )


def _is_behind(suggestion: Suggestion) -> bool:
    """Whether a card is missing or shows something else; a decision is shown once it is carried out."""
    if suggestion.card_shows == suggestion.status:
        return False
    return suggestion.is_waiting or (suggestion.settled_at is not None and suggestion.card_ts is not None)
