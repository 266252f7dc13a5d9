"""Reading chats back from Slack: pages, patience, and what is gone."""

from __future__ import annotations

import pytest

from bot.errors import ProviderError, Unavailable
from handlers.transport.slack_clients import history_client
from handlers.transport.workspace import PAGE, SlackHistory
from tests.handlers.slack_stub import Answer, SlackStub, refusal


@pytest.fixture
def history(slack: SlackStub) -> SlackHistory:
    """The real history over the stub."""
    return SlackHistory(history_client("xoxb-1", slack.url))


def test_a_page_names_the_next_one(slack: SlackStub, history: SlackHistory) -> None:
    """The cursor comes back as it was given; an empty one is the end."""
    first = {"messages": [{"ts": "2.1"}], "response_metadata": {"next_cursor": "abc="}}
    last = {"messages": [{"ts": "1.1"}, "nonsense"], "response_metadata": {"next_cursor": ""}}
    slack.will("conversations.history", Answer(first), Answer(last))
    page = history.messages("C1", oldest="1.000000")
    assert page.cursor == "abc="
    page = history.messages("C1", oldest="1.000000", cursor=page.cursor)
    assert (page.messages, page.cursor) == ([{"ts": "1.1"}], None)
    asked = slack.of("conversations.history")
    assert [call.get("cursor") for call in asked] == [None, "abc="]
    assert {(call["channel"], call["oldest"], str(call["limit"])) for call in asked} == {("C1", "1.000000", str(PAGE))}


def test_a_thread_is_read_from_a_moment_on(slack: SlackStub, history: SlackHistory) -> None:
    """All of it, unless told otherwise."""
    slack.will("conversations.replies", Answer({"messages": [{"ts": "1.1"}]}))
    assert history.replies("C1", "1.1").messages == [{"ts": "1.1"}]
    assert slack.of("conversations.replies")[0]["oldest"] == "0"


def test_a_thread_that_is_gone_is_empty(slack: SlackStub, history: SlackHistory) -> None:
    """Its root was deleted, and had no replies."""
    slack.will("conversations.replies", refusal("thread_not_found"))
    assert history.replies("C1", "1.1").messages == ()


def test_a_rate_limit_is_not_waited_out_but_told(slack: SlackStub, history: SlackHistory) -> None:
    """One request; whoever reads may be stopped while it waits."""
    slack.will("conversations.history", refusal("ratelimited", status=429, Retry_After="30"))
    with pytest.raises(Unavailable) as caught:
        history.messages("C1", oldest="0")
    assert caught.value.retry_after_s == 30
    assert len(slack.of("conversations.history")) == 1


def test_a_refusal_says_which_chat_and_what_to_do(slack: SlackStub, history: SlackHistory) -> None:
    """It is no outage."""
    slack.will("conversations.history", refusal("not_in_channel"))
    with pytest.raises(ProviderError, match="C1: not_in_channel; invite the bot") as caught:
        history.messages("C1", oldest="0")
    assert not isinstance(caught.value, Unavailable)
