"""Port RecheckChat over Slack: one card in the ops channel, updated in place."""

from __future__ import annotations

from blocks import ids
from blocks.cards.recheck_card import recheck_blocks, recheck_text
from bot.domain.citations.links import LinkTo
from bot.domain.memory.rechecks import Recheck, RecheckOutcome
from handlers.cards.publisher import Card, CardPublisher, MessageRef


class RecheckCards:
    """Speaks in one ops channel; links citations where the code host is known."""

    def __init__(self, publisher: CardPublisher, *, ops_channel: str, link_to: LinkTo) -> None:
        self._publisher, self._ops_channel, self._link_to = publisher, ops_channel, link_to

    def show(self, recheck: Recheck) -> tuple[str, str]:
        """Bring the card in line, or post it; returns where it stands."""
        card = Card(
            name="a note's card",
            text=recheck_text(recheck),
            blocks=recheck_blocks(recheck, link_to=self._link_to),
            mark=ids.recheck_block_id(recheck.id),
            is_waiting=recheck.outcome is RecheckOutcome.OPEN,
        )
        at = MessageRef.on_file(recheck.card_channel, recheck.card_ts)
        return self._publisher.publish(self._ops_channel, card, at=at, recorded_at=recheck.at)
