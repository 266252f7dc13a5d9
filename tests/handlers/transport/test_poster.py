"""Posts and updates at Slack's pace: a refusal for the rate is waited for within the caller's patience."""

from __future__ import annotations

import pytest

from bot.errors import Unavailable, Unconfirmed
from handlers.transport.poster import MAX_REFUSALS, Poster
from handlers.transport.rate_limits import LINE, RateLimiter
from handlers.transport.slack_clients import PATIENCE_S
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal


class Waits:
    """A time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def monotonic(self) -> float:
        return sum(self.seconds)

    def limiter(self) -> RateLimiter:
        return RateLimiter(posts_per_second=100.0, monotonic=self.monotonic, wait=self.seconds.append)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def poster(slack: SlackStub, waits: Waits) -> Poster:
    return a_poster(slack.url, limiter=waits.limiter())


def say(poster: Poster, channel: str = "C1") -> None:
    poster.post(channel, "hello", what="post the reply", rank=LINE)


def refused_for(seconds: str) -> Answer:
    return refusal("ratelimited", status=429, Retry_After=seconds)


def test_a_post_refused_for_its_rate_waits_as_told_and_goes_on(slack: SlackStub, waits: Waits, poster: Poster) -> None:
    """429 means that nothing was posted; Retry-After is honoured, to the second."""
    slack.will("chat.postMessage", refused_for("3"), Answer({"ts": "1.2"}))
    say(poster)
    assert waits.seconds == [3.0]
    assert len(slack.of("chat.postMessage")) == 2


def test_a_rate_limit_that_never_ends_is_a_refusal(slack: SlackStub, poster: Poster) -> None:
    """After a few tries the draft waits instead; nothing was posted."""
    slack.will("chat.postMessage", refused_for("0"))
    with pytest.raises(Unavailable, match="ratelimited"):
        say(poster)
    assert len(slack.of("chat.postMessage")) == MAX_REFUSALS


@pytest.mark.parametrize(("asked", "waited"), [("30", []), ("900", []), ("5", [5.0]), ("8", [8.0]), ("3", [3.0, 3.0])])
def test_nobody_waits_for_slack_longer_than_seconds(
    slack: SlackStub, waits: Waits, poster: Poster, asked: str, waited: list[float]
) -> None:
    """In all, not each time; the error says for how long Slack wants none."""
    slack.will("chat.postMessage", refused_for(asked))
    with pytest.raises(Unavailable, match=f"nothing was done, try again in {asked} s") as caught:
        say(poster)
    assert waits.seconds == waited
    assert sum(waited) <= PATIENCE_S
    assert caught.value.retry_after_s == float(asked)
    assert len(slack.of("chat.postMessage")) == len(waited) + 1


def test_a_channel_that_was_refused_is_left_alone_and_others_go_on(slack: SlackStub, poster: Poster) -> None:
    """Slack is not asked again before its time."""
    slack.will("chat.postMessage", refused_for("60"), Answer({"ts": "1.2"}))
    for said in ("ratelimited", "too many messages at once"):
        with pytest.raises(Unavailable, match=said):
            say(poster)
    say(poster, "C2")
    assert [call["channel"] for call in slack.of("chat.postMessage")] == ["C1", "C2"]


def test_an_update_nobody_waits_for_is_put_off_at_once(slack: SlackStub, waits: Waits, poster: Poster) -> None:
    """A newer state supersedes it; the caller is told when to come back."""
    slack.will("chat.update", refused_for("2"))
    with pytest.raises(Unavailable) as caught:
        poster.update("C1", "1.1", "x", [], what="update the card", whole=True, patience_s=0.0)
    assert (waits.seconds, caught.value.retry_after_s) == ([], 2.0)
    assert len(slack.of("chat.update")) == 1


def test_a_dropped_connection_repeats_an_update_and_never_a_post(slack: SlackStub, poster: Poster) -> None:
    """Asking twice for the same state does no harm."""
    slack.will("chat.update", HangUp, Answer())
    poster.update("C1", "1.1", "x", [], what="update the card", whole=True)
    slack.will("chat.postMessage", HangUp)
    with pytest.raises(Unconfirmed):
        say(poster)
    assert (len(slack.of("chat.update")), len(slack.of("chat.postMessage"))) == (2, 1)
