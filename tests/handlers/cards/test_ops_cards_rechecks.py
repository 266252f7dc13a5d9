"""The card that asks about a note, over the wire."""

from __future__ import annotations

import pytest

from blocks import ids
from bot.domain.citations.links import code_links
from bot.domain.memory.rechecks import RecheckOutcome
from handlers.cards.ops_cards import RecheckCards
from tests.blocks.cards.test_recheck_card import recheck
from tests.handlers.slack_stub import SlackStub, a_poster, a_publisher, refusal


def cards(slack: SlackStub) -> RecheckCards:
    publisher = a_publisher(slack.url, a_poster(slack.url))
    return RecheckCards(publisher, ops_channel="C0OPS", link_to=code_links(None))


def test_a_card_is_posted_with_its_mark(slack: SlackStub) -> None:
    """It is found by it after a crash."""
    asked = recheck()
    assert cards(slack).show(asked)[0] == "C0OPS"
    assert ids.recheck_block_id(asked.id) in str(slack.of("chat.postMessage"))


@pytest.mark.parametrize(("outcome", "posts"), [(RecheckOutcome.OPEN, 1), (RecheckOutcome.MOOT, 0)])
def test_a_card_that_somebody_deleted_comes_again_while_it_asks(
    slack: SlackStub, outcome: RecheckOutcome, posts: int
) -> None:
    """A note whose lines changed once more asks on the card it had."""
    slack.will("chat.update", refusal("message_not_found"))
    cards(slack).show(recheck(outcome=outcome, card_channel="C0OPS", card_ts="1800000000.000007"))
    assert len(slack.of("chat.postMessage")) == posts
