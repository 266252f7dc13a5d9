"""A file under a card leaves by Slack's three requests, and what Slack refuses is said in words that help."""

from __future__ import annotations

import json

import pytest

from bot.errors import ProviderError, Unavailable, Unconfirmed
from handlers.cards.ops_cards import SlackCardFiles
from tests.builders import a_thread
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, a_poster, refusal

THREAD = a_thread(card_channel="C0OPS", card_ts="1700000000.000200")
ASKED, SENT, DONE = "files.getUploadURLExternal", "bytes", "files.completeUploadExternal"


@pytest.fixture
def files(slack: SlackStub) -> SlackCardFiles:
    """The real thing over the stub, which takes every file."""
    slack.will(ASKED, Answer({"upload_url": f"{slack.url}bytes", "file_id": "F1"}))
    slack.will(DONE, Answer({"files": [{"id": "F1"}]}))
    return SlackCardFiles(a_poster(slack.url), lambda: None)


def show(files: SlackCardFiles) -> None:
    files.show(THREAD, filename="triage.patch", title="Proposed patch", text="+ 7", said="The whole <diff>")


def test_a_file_is_posted_once_in_the_thread_of_its_card(slack: SlackStub, files: SlackCardFiles) -> None:
    """With its title for who cannot see it, and a line above it."""
    show(files)
    assert [method for method, _ in slack.calls] == [ASKED, SENT, DONE]
    [asked], [done] = slack.of(ASKED), slack.of(DONE)
    assert (asked["filename"], asked["alt_txt"]) == ("triage.patch", "Proposed patch")
    assert (done["channel_id"], done["thread_ts"]) == (THREAD.card_channel, THREAD.card_ts)
    assert done["initial_comment"] == "The whole &lt;diff&gt;"
    assert json.loads(done["files"]) == [{"id": "F1", "title": "Proposed patch"}]


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
    slack: SlackStub, files: SlackCardFiles, step: str, answer: Answer | type[HangUp], error: type[ProviderError]
) -> None:
    """At any of the three requests."""
    slack.will(step, answer)
    with pytest.raises(error, match="file below the card") as raised:
        show(files)
    assert raised.type is error
    assert len(slack.of(step)) == 1
