"""Errors of the wire: what may be tried again is, and a post never is."""

from __future__ import annotations

import socket
import time

import pytest
from slack_sdk import WebClient

from bot.errors import ProviderError, Unconfirmed
from handlers.transport import posting_client, repeatable_client, translated
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, refusal


def post(client: WebClient) -> None:
    with translated("post the reply", posting=True):
        client.chat_postMessage(channel="C1", text="hello")


def read(client: WebClient) -> None:
    with translated("look up a user"):
        client.users_info(user="U1")


def test_a_post_is_not_repeated_after_a_dropped_connection(slack: SlackStub) -> None:
    """Slack read it and hung up: one request, and the answer is that nobody can tell."""
    slack.will("chat.postMessage", HangUp)
    with pytest.raises(Unconfirmed, match="post the reply"):
        post(posting_client("xoxb-1", slack.url))
    assert len(slack.of("chat.postMessage")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"ok": False}, status=500),
        Answer(b"<html>bad gateway</html>", status=502),
        refusal("service_unavailable", status=503),
        refusal("fatal_error"),
        refusal("internal_error"),
        Answer(b"", status=200),
        Answer(b'{"ok": tr', status=200),
    ],
    ids=["500", "502", "503", "fatal_error", "internal_error", "no body", "half a body"],
)
def test_a_post_that_slack_stumbled_over_is_unconfirmed(slack: SlackStub, answer: Answer) -> None:
    """It may stand in the channel all the same; it is not sent again."""
    slack.will("chat.postMessage", answer)
    with pytest.raises(Unconfirmed):
        post(posting_client("xoxb-1", slack.url))
    assert len(slack.of("chat.postMessage")) == 1


@pytest.mark.parametrize("code", ["channel_not_found", "is_archived", "msg_too_long", "invalid_auth"])
def test_a_post_that_slack_refused_was_not_made(slack: SlackStub, code: str) -> None:
    """A clear no names itself, and is not Unconfirmed."""
    slack.will("chat.postMessage", refusal(code))
    with pytest.raises(ProviderError, match=code) as caught:
        post(posting_client("xoxb-1", slack.url))
    assert not isinstance(caught.value, Unconfirmed)


def test_a_post_that_never_left_was_not_made() -> None:
    """Nobody listens, or the name does not resolve: the draft may wait as before."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/api/", "http://no-such-host.invalid/api/"):
        with pytest.raises(ProviderError) as caught:
            post(posting_client("xoxb-1", url))
        assert not isinstance(caught.value, Unconfirmed)


def test_a_post_refused_for_its_rate_waits_as_told_and_goes_on(slack: SlackStub) -> None:
    """429 means that nothing was posted; Retry-After is honoured."""
    slack.will("chat.postMessage", refusal("ratelimited", status=429, Retry_After="1"), Answer({"ts": "1.2"}))
    began = time.monotonic()
    post(posting_client("xoxb-1", slack.url))
    assert time.monotonic() - began >= 1
    assert len(slack.of("chat.postMessage")) == 2


def test_a_rate_limit_that_never_ends_is_a_refusal(slack: SlackStub) -> None:
    """After a few waits the draft waits instead; nothing was posted."""
    slack.will("chat.postMessage", refusal("ratelimited", status=429, Retry_After="0"))
    with pytest.raises(ProviderError, match="ratelimited") as caught:
        post(posting_client("xoxb-1", slack.url))
    assert not isinstance(caught.value, Unconfirmed)
    assert len(slack.of("chat.postMessage")) == 4


def test_a_read_is_repeated_after_a_dropped_connection(slack: SlackStub) -> None:
    """Asking twice does no harm."""
    slack.will("users.info", HangUp, Answer({"user": {}}))
    read(repeatable_client("xoxb-1", slack.url))
    assert len(slack.of("users.info")) == 2


def test_a_read_that_keeps_failing_is_a_provider_error(slack: SlackStub) -> None:
    """In our words, with what to do where that is known, and never Unconfirmed."""
    slack.will("users.info", HangUp)
    with pytest.raises(ProviderError, match="could not be reached to look up a user"):
        read(repeatable_client("xoxb-1", slack.url))
    slack.will("users.info", refusal("missing_scope"))
    with pytest.raises(ProviderError, match="missing_scope; reinstall the app"):
        read(repeatable_client("xoxb-1", slack.url))
    slack.will("users.info", Answer({"ok": False}, status=500))
    with pytest.raises(ProviderError, match="HTTP 500") as caught:
        read(repeatable_client("xoxb-1", slack.url))
    assert not isinstance(caught.value, Unconfirmed)


def test_no_error_repeats_the_token(slack: SlackStub) -> None:
    """What people read holds no secret."""
    slack.will("users.info", refusal("invalid_auth"))
    with pytest.raises(ProviderError) as caught:
        read(repeatable_client("xoxb-very-secret", slack.url))
    assert "very-secret" not in str(caught.value)
    assert ".env" in str(caught.value)
