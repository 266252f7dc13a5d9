"""Reading chats back from Slack: pages, patience, and what is gone."""

from __future__ import annotations

import pytest

from bot.errors import Unavailable
from handlers.transport.slack_clients import MAX_ADVISED_S, RateLimitRetry, history_client
from handlers.transport.workspace import PAGE, SlackHistory
from tests.handlers.slack_stub import Answer, SlackStub, refusal


@pytest.fixture
def waited() -> list[float]:
    """How long the history would have slept, each time."""
    return []


@pytest.fixture
def history(slack: SlackStub, waited: list[float]) -> SlackHistory:
    """The real history over the stub; its waits are noted instead of slept through."""
    client = history_client("xoxb-1", slack.url)
    retries = [each for each in client.retry_handlers if not isinstance(each, RateLimitRetry)]
    client.retry_handlers = [*retries, RateLimitRetry(patience_s=MAX_ADVISED_S, wait=waited.append)]
    return SlackHistory(client)


def test_all_pages_are_read_each_when_it_is_needed(slack: SlackStub, history: SlackHistory) -> None:
    """The cursor goes back as it came; an empty one is the end, and what is no message is left out."""
    first = {"messages": [{"ts": "2.1"}], "response_metadata": {"next_cursor": "abc="}}
    last = {"messages": [{"ts": "1.1"}, "nonsense"], "response_metadata": {"next_cursor": ""}}
    slack.will("conversations.history", Answer(first), Answer(last))
    messages = iter(history.messages("C1", oldest="1.000000"))
    assert next(messages) == {"ts": "2.1"}
    assert len(slack.of("conversations.history")) == 1
    assert list(messages) == [{"ts": "1.1"}]
    asked = slack.of("conversations.history")
    assert [call.get("cursor") for call in asked] == [None, "abc="]
    assert {(call["channel"], call["oldest"], str(call["limit"])) for call in asked} == {("C1", "1.000000", str(PAGE))}


def test_direct_messages_are_listed_and_nothing_else(slack: SlackStub, history: SlackHistory) -> None:
    """Whatever else Slack lists with them."""
    found = [{"id": "D0ANA"}, {"id": "C0HELP"}]
    first = Answer({"channels": found, "response_metadata": {"next_cursor": "b"}})
    slack.will("users.conversations", first, Answer({"channels": [{"id": "D0BEN"}]}))
    assert list(history.direct_chats()) == ["D0ANA", "D0BEN"]
    assert [call["types"] for call in slack.of("users.conversations")] == ["im", "im"]


def test_a_page_is_asked_for_again_as_soon_as_slack_allows_it(slack: SlackStub, history: SlackHistory) -> None:
    """That page, and not those before it."""
    pages = [Answer({"messages": [{"ts": "2.1"}], "response_metadata": {"next_cursor": "b"}})]
    pages += [refusal("ratelimited", status=429, Retry_After="0"), Answer({"messages": [{"ts": "1.1"}]})]
    slack.will("conversations.history", *pages)
    assert list(history.messages("C1", oldest="0")) == [{"ts": "2.1"}, {"ts": "1.1"}]
    assert [call.get("cursor") for call in slack.of("conversations.history")] == [None, "b", "b"]


def test_a_rate_limit_without_end_is_an_outage(slack: SlackStub, history: SlackHistory, waited: list[float]) -> None:
    """After three waits it says how long Slack wants to be left alone."""
    slack.will("conversations.history", refusal("ratelimited", status=429, Retry_After="30"))
    with pytest.raises(Unavailable) as caught:
        list(history.messages("C1", oldest="0"))
    assert caught.value.retry_after_s == 30
    assert waited == [30.0] * 3
