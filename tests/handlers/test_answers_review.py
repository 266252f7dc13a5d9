"""The weekly review as a direct message: to the lead, once a week, whatever died between the post and its note."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from slack_sdk import WebClient

from blocks import ids
from blocks.views.report_views import review_line
from bot.casework.reports.weekly_review import WeeklyReview
from bot.errors import ProviderError, Unavailable, Unconfirmed
from handlers.answers import ReviewMessages
from tests.blocks.views.test_report_views_review import a_part, a_review
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal, slack_stub

WEEK, MARK = "2026-11-23", ids.review_block_id("acme", "2026-11-23")


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with slack_stub() as stub:
        stub.will("conversations.open", Answer({"channel": {"id": "D0ANN"}}))
        stub.will("conversations.history", Answer({"messages": []}))
        yield stub


@pytest.fixture
def review(tmp_path: Path) -> WeeklyReview:
    return a_review(tmp_path, a_part())


def lead(slack: SlackStub, clock: FakeClock, to: str = "U0ANN") -> ReviewMessages:
    """Return what a new process writes with."""
    poster = a_poster(slack.url, posts_per_second=100.0, clock=clock)
    return ReviewMessages(WebClient(token="xoxb-1", base_url=slack.url), poster, lead=to, team="acme")


def standing(mark: str, ts: float) -> Answer:
    """Return the direct messages, one of which has this mark."""
    return Answer({"messages": [{"ts": f"{ts:.6f}", "blocks": [{"type": "section", "block_id": mark}]}]})


def test_the_lead_gets_the_whole_review_in_a_direct_message(slack: SlackStub, review: WeeklyReview) -> None:
    """With questions and links, as an approver sees it; the notification quotes nobody."""
    lead(slack, FakeClock(NOW)).send(review, WEEK, NOW)
    assert slack.of("conversations.open") == [{"users": "U0ANN"}]
    [post] = slack.of("chat.postMessage")
    assert (post["channel"], post["text"]) == ("D0ANN", review_line(review))
    assert MARK in str(post["blocks"])
    assert "Why?: wrong" in str(post["blocks"])
    assert "Why?" not in post["text"]


def test_what_a_killed_process_posted_is_found_and_not_posted_again(slack: SlackStub, review: WeeklyReview) -> None:
    """It is looked for from a day before it was meant to be sent."""
    slack.will("conversations.history", standing(MARK, NOW.timestamp() - 60))
    lead(slack, FakeClock(NOW + timedelta(minutes=5))).send(review, WEEK, NOW)
    assert slack.of("chat.postMessage") == []
    assert float(slack.of("conversations.history")[0]["oldest"]) == (NOW - timedelta(days=1)).timestamp()


@pytest.mark.parametrize("mark", [ids.review_block_id("acme", "2026-11-16"), ids.review_block_id("other", WEEK)])
def test_the_review_of_another_week_or_team_is_another_message(
    slack: SlackStub, review: WeeklyReview, mark: str
) -> None:
    """One person may lead two teams."""
    slack.will("conversations.history", standing(mark, NOW.timestamp()))
    lead(slack, FakeClock(NOW)).send(review, WEEK, NOW)
    assert len(slack.of("chat.postMessage")) == 1


def test_a_post_that_a_killed_process_left_under_way_is_waited_for(slack: SlackStub, review: WeeklyReview) -> None:
    """It may still come; once it would have, the review is posted."""
    clock = FakeClock(NOW)
    messages = lead(slack, clock)
    with pytest.raises(Unavailable, match="may still be on its way"):
        messages.send(review, WEEK, NOW - timedelta(seconds=1))
    assert slack.of("chat.postMessage") == []
    clock.at += timedelta(seconds=11)
    messages.send(review, WEEK, NOW - timedelta(seconds=1))
    assert len(slack.of("chat.postMessage")) == 1


def test_a_post_that_slack_did_not_confirm_is_not_repeated_blindly(slack: SlackStub, review: WeeklyReview) -> None:
    """The next try finds it."""
    messages = lead(slack, FakeClock(NOW))
    slack.will("chat.postMessage", HangUp)
    with pytest.raises(Unconfirmed):
        messages.send(review, WEEK, NOW)
    slack.will("conversations.history", standing(MARK, NOW.timestamp()))
    messages.send(review, WEEK, NOW)
    assert len(slack.of("chat.postMessage")) == 1


@pytest.mark.parametrize("method", ["conversations.open", "conversations.history", "chat.postMessage"])
def test_what_slack_refuses_is_an_error(slack: SlackStub, review: WeeklyReview, method: str) -> None:
    """So that the schedule tries again; where nobody can look, nothing is posted."""
    slack.will(method, refusal("account_inactive"))
    with pytest.raises(ProviderError, match=r"Slack could not (open a direct message|send the weekly review)"):
        lead(slack, FakeClock(NOW)).send(review, WEEK, NOW)
    assert bool(slack.of("chat.postMessage")) is (method == "chat.postMessage")
