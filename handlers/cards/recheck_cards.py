"""Port RecheckChat over Slack: one card in the ops channel, updated in place."""

from __future__ import annotations

from slack_sdk import WebClient

from blocks import ids
from blocks.cards.recheck_card import LinkTo, recheck_blocks, recheck_text
from bot.domain.memory.rechecks import Recheck
from bot.errors import ProviderError
from handlers.transport.poster import Poster, slack_time, update_message
from handlers.transport.rate_limits import CARD


class RecheckCards:
    """Speaks in one ops channel; links citations where the code host is known."""

    def __init__(self, client: WebClient, poster: Poster, *, ops_channel: str, link_to: LinkTo) -> None:
        self._client, self._poster = client, poster
        self._ops_channel, self._link_to = ops_channel, link_to

    def show(self, recheck: Recheck) -> tuple[str, str]:
        """Post the card, or update it in place; one that somebody deleted stays deleted."""
        text, blocks = recheck_text(recheck), recheck_blocks(recheck, link_to=self._link_to)
        if recheck.card_channel and recheck.card_ts:
            try:
                place = (recheck.card_channel, recheck.card_ts)
                update_message(self._client, *place, text, blocks, what="update a note's card")
            except ProviderError as error:
                if error.code != "message_not_found":
                    raise
            return recheck.card_channel, recheck.card_ts
        answer = self._poster.post(
            self._ops_channel,
            text,
            blocks,
            what="ask about a note",
            rank=CARD,
            mark=ids.recheck_block_id(recheck.id),
        )
        return self._ops_channel, str(answer["ts"])

    def find(self, recheck: Recheck) -> tuple[str, str] | None:
        """Return where the card stands, if it was posted and nobody knows; raises Unavailable while it may yet come."""
        found = self._poster.find(
            self._ops_channel,
            ids.recheck_block_id(recheck.id),
            what="look for a note's card",
            recorded_at=recheck.at,
            since=slack_time(recheck.at),
        )
        return (self._ops_channel, found) if found is not None else None
