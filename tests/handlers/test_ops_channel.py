"""The picture of a week leaves by Slack's three requests, and what Slack refuses is said in words that help."""

from __future__ import annotations

import json
from datetime import UTC

import pytest

from bot.casework.reports.journal_history import BeatHistory, JournalHistory
from bot.casework.reports.measures import Window
from bot.casework.reports.week_report import build_week
from bot.errors import ProviderError, Unavailable, Unconfirmed
from handlers.ops_channel import OpsChannelPosts
from tests.builders import NOW
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal

WEEK = build_week(JournalHistory(), BeatHistory(), Window.last(7, NOW), UTC)
ASKED, SENT, DONE = "files.getUploadURLExternal", "bytes", "files.completeUploadExternal"


@pytest.fixture
def pictures(slack: SlackStub) -> OpsChannelPosts:
    """The real thing over the stub, which takes every file."""
    slack.will(ASKED, Answer({"upload_url": f"{slack.url}bytes", "file_id": "F1"}))
    slack.will(DONE, Answer({"files": [{"id": "F1"}]}))
    return OpsChannelPosts(a_poster(slack.url), ops_channel="C0OPS", expire_after=None)


def test_a_picture_is_posted_once_with_its_numbers_in_words(slack: SlackStub, pictures: OpsChannelPosts) -> None:
    """In the ops channel, described for who cannot see it."""
    pictures.show(WEEK)
    assert [method for method, _ in slack.calls] == [ASKED, SENT, DONE]
    [asked], [done] = slack.of(ASKED), slack.of(DONE)
    assert (asked["filename"], asked["alt_txt"]) == ("week.png", WEEK.in_words())
    assert done["channel_id"] == "C0OPS"
    assert json.loads(done["files"]) == [{"id": "F1", "title": f"The last 7 days, to {WEEK.until}"}]


def test_a_missing_scope_says_what_to_do(slack: SlackStub, pictures: OpsChannelPosts) -> None:
    """An app from before there were pictures lacks files:write."""
    slack.will(ASKED, refusal("missing_scope"))
    with pytest.raises(ProviderError, match=r"post the picture of the week: missing_scope; .*manifest\.yml"):
        pictures.show(WEEK)
    assert slack.of(DONE) == []


@pytest.mark.parametrize(
    ("step", "answer", "error"),
    [
        (ASKED, refusal("ratelimited", status=429, Retry_After="3600"), Unavailable),
        (ASKED, refusal("internal_error", status=500), Unconfirmed),
        (SENT, Answer(b"no", status=413), ProviderError),
        (SENT, Answer(b"later", status=202), ProviderError),
        (SENT, HangUp, Unconfirmed),
        (DONE, refusal("not_in_channel"), ProviderError),
        (DONE, HangUp, Unconfirmed),
    ],
)
def test_whatever_breaks_is_one_of_our_errors_and_nothing_is_sent_twice(
    slack: SlackStub, pictures: OpsChannelPosts, step: str, answer: Answer | type[HangUp], error: type[ProviderError]
) -> None:
    """At any of the three requests."""
    slack.will(step, answer)
    with pytest.raises(error, match="picture of the week") as raised:
        pictures.show(WEEK)
    assert raised.type is error
    assert len(slack.of(step)) == 1
