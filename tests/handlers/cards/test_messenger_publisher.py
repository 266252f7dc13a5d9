"""A card is posted once, changed in place, found again, and replaced while somebody has to decide on it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.models.blocks import Block, SectionBlock

from bot.errors import ProviderError, Unavailable
from bot.ports.chat import IN_FLIGHT
from handlers.cards.messenger import GONE, Card, MessageRef, keep_first, publish, update
from handlers.transport.poster import Poster, PostInFlight
from handlers.transport.rate_limits import UPDATE_BURST
from tests.fakes import FakeClock
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal

AT = MessageRef("C0OPS", "1800000000.000007")
MARK = "triage_test:1"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def poster(slack: SlackStub, clock: FakeClock) -> Poster:
    return a_poster(slack.url, clock=clock)


def a_card(**changes: Any) -> Card:
    blocks: list[Block] = [SectionBlock(text="*Which?*", block_id=MARK), SectionBlock(text="More.")]
    return Card(**{"name": "the card", "text": "Which?", "blocks": blocks, "mark": MARK, **changes})


def standing(*places: str) -> Answer:
    """Return a channel's history with the card at these places."""
    return Answer({"messages": [{"ts": ts, "blocks": [{"block_id": MARK}]} for ts in places]})


def test_a_card_that_stands_is_changed_in_place(slack: SlackStub, poster: Poster) -> None:
    """No look, no second message."""
    assert publish(poster, "C0OPS", a_card(), at=AT) == AT
    assert [name for name, _ in slack.calls] == ["chat.update"]


def test_a_card_that_a_crash_left_is_found_and_brought_in_line(
    slack: SlackStub, poster: Poster, clock: FakeClock
) -> None:
    """It was on file before this process began."""
    slack.will("conversations.history", standing(AT.ts))
    assert publish(poster, "C0OPS", a_card(), recorded_at=clock.now() - timedelta(minutes=1)) == AT
    assert slack.of("chat.postMessage") == []
    assert [call["ts"] for call in slack.of("chat.update")] == [AT.ts]


def test_a_card_that_may_yet_come_is_not_posted(slack: SlackStub, poster: Poster, clock: FakeClock) -> None:
    """Who posted it may have died a moment ago; when it can come no more it is posted."""
    slack.will("conversations.history", standing())
    recorded_at = clock.now() - timedelta(minutes=1)
    with pytest.raises(PostInFlight):
        publish(poster, "C0OPS", a_card(), recorded_at=recorded_at)
    clock.advance(IN_FLIGHT.total_seconds())
    assert publish(poster, "C0OPS", a_card(), recorded_at=recorded_at).channel == "C0OPS"
    assert len(slack.of("chat.postMessage")) == 1


@pytest.mark.parametrize("code", sorted(GONE))
def test_a_card_that_can_be_changed_no_more_comes_again_while_it_waits(
    slack: SlackStub, poster: Poster, code: str
) -> None:
    """Nothing waits unseen."""
    slack.will("chat.update", refusal(code))
    slack.will("chat.postMessage", Answer({"ts": "1800000000.000009"}))
    assert publish(poster, "C0OPS", a_card(), at=AT) == ("C0OPS", "1800000000.000009")


@pytest.mark.parametrize("code", sorted(GONE))
def test_a_settled_card_that_somebody_deleted_stays_away(slack: SlackStub, poster: Poster, code: str) -> None:
    """Nobody has to decide on it."""
    slack.will("chat.update", refusal(code))
    assert publish(poster, "C0OPS", a_card(is_waiting=False), at=AT) == AT
    assert slack.of("chat.postMessage") == []


@pytest.mark.parametrize(("method", "at"), [("chat.update", AT), ("chat.postMessage", None)])
def test_blocks_that_slack_does_not_take_are_shortened(
    slack: SlackStub, poster: Poster, method: str, at: MessageRef | None
) -> None:
    """And the card says so; its mark stays, for it is found by it."""
    slack.will(method, refusal("msg_blocks_too_long"), Answer({"ts": AT.ts}))
    assert publish(poster, "C0OPS", a_card(), at=at) == AT
    shown = slack.of(method)[-1]["blocks"]
    assert "Shortened" in str(shown)
    assert MARK in str(shown)


@pytest.mark.parametrize(("method", "at"), [("chat.update", AT), ("chat.postMessage", None)])
def test_a_card_that_must_be_whole_is_refused_instead(
    slack: SlackStub, poster: Poster, method: str, at: MessageRef | None
) -> None:
    """Its caller has a shorter one of its own."""
    slack.will(method, refusal("msg_blocks_too_long"))
    with pytest.raises(ProviderError) as caught:
        publish(poster, "C0OPS", a_card(is_whole=True), at=at)
    assert caught.value.code == "msg_blocks_too_long"
    assert len(slack.calls) == 1


def test_one_pace_holds_for_the_updates_of_all_cards(slack: SlackStub, poster: Poster) -> None:
    """Whose card it is makes no difference to Slack."""
    for number in range(UPDATE_BURST):
        assert update(poster, MessageRef(f"D{number}", AT.ts), a_card(), patience_s=0.0)
    with pytest.raises(Unavailable, match="too many messages at once"):
        update(poster, AT, a_card(), patience_s=0.0)
    assert len(slack.of("chat.update")) == UPDATE_BURST


class TestKeepFirst:
    """Two processes posted the same card in the same moment."""

    def test_the_older_one_stays(self, slack: SlackStub, poster: Poster) -> None:
        """Ours is deleted, and the other one brought in line."""
        slack.will("conversations.history", standing("1800000000.000009", AT.ts))
        kept = keep_first(poster, MessageRef("C0OPS", "1800000000.000009"), a_card(), since=0.0)
        assert kept == AT
        assert [call["ts"] for call in slack.of("chat.delete")] == ["1800000000.000009"]
        assert [call["ts"] for call in slack.of("chat.update")] == [AT.ts]

    @pytest.mark.parametrize("word", sorted(GONE))
    def test_an_older_one_that_can_be_changed_no_more_is_not_waited_on(
        self, slack: SlackStub, poster: Poster, word: str
    ) -> None:
        """What it shows may be from before the draft: the card is posted again, and stands there."""
        slack.will("conversations.history", standing("1800000000.000009", AT.ts))
        slack.will("chat.update", refusal(word))
        kept = keep_first(poster, MessageRef("C0OPS", "1800000000.000009"), a_card(), since=0.0)
        assert kept != AT
        assert len(slack.of("chat.postMessage")) == 1

    def test_ours_stays_where_it_is_the_older_or_nobody_can_tell(self, slack: SlackStub, poster: Poster) -> None:
        """A second card is better than none."""
        slack.will("conversations.history", standing("1800000000.000009", AT.ts))
        assert keep_first(poster, AT, a_card(), since=0.0) == AT
        for answer in (refusal("not_in_channel"), HangUp):
            slack.will("conversations.history", answer)
            assert keep_first(poster, AT, a_card(), since=0.0) == AT
        assert slack.of("chat.delete") == []
