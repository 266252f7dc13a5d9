"""The cards of suggestions, over the wire: each stands once and shows what its file says."""

from __future__ import annotations

import pytest

from bot.domain.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.ports.feature_collections import SUGGESTIONS
from handlers.cards.ops_cards import SuggestionCards
from tests.builders import NOW
from tests.fakes import in_memory
from tests.gallery.offers import OFFER
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal

CARD_TS = "1800000000.000007"
REJECTED = OFFER.decided(SuggestionStatus.REJECTED, DecidedBy("U2", "ben"), NOW, None).evolve(settled_at=NOW)


def shown(slack: SlackStub, suggestion: Suggestion) -> Suggestion:
    """Tick over one suggestion and return what is on file of it then."""
    store = in_memory(SUGGESTIONS)
    store.add(suggestion.id, suggestion)
    SuggestionCards(a_poster(slack.url), store, ops_channel="C0OPS").tick()
    return store.get(suggestion.id)


def test_a_new_suggestion_is_posted_and_noted(slack: SlackStub) -> None:
    """Where it stands, and what it shows."""
    slack.will("chat.postMessage", Answer({"ts": CARD_TS}))
    now = shown(slack, OFFER)
    assert (now.card_channel, now.card_ts, now.card_shows) == ("C0OPS", CARD_TS, OFFER.status)


@pytest.mark.parametrize(("suggestion", "posts"), [(OFFER, 1), (REJECTED, 0)])
def test_a_card_that_somebody_deleted_comes_again_while_it_waits(
    slack: SlackStub, suggestion: Suggestion, posts: int
) -> None:
    """What is decided stays away, and is not tried again."""
    slack.will("chat.update", refusal("message_not_found"))
    now = shown(slack, suggestion.evolve(card_channel="C0OPS", card_ts=CARD_TS))
    assert len(slack.of("chat.postMessage")) == posts
    assert now.card_shows == suggestion.status


def test_what_slack_refuses_is_tried_again(slack: SlackStub) -> None:
    """Nothing is noted as shown."""
    slack.will("chat.postMessage", refusal("is_archived"))
    assert shown(slack, OFFER).card_shows is None
