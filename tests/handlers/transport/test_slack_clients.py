"""Errors of the wire: what may be tried again is, and a post never is."""

from __future__ import annotations

import socket
from urllib.parse import quote

import pytest
from slack_sdk import WebClient

from bot.errors import ProviderError, Unavailable, Unconfirmed
from handlers.transport.slack_clients import (
    MAX_ADVISED_S,
    PATIENCE_S,
    RateLimitRetry,
    posting_client,
    repeatable_client,
    translate_slack_errors,
)
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, refusal, without_pauses


def post(client: WebClient) -> None:
    with translate_slack_errors("post the reply", posting=True):
        client.chat_postMessage(channel="C1", text="hello")


def read(client: WebClient) -> None:
    with translate_slack_errors("look up a user"):
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
        port = free.getsockname()[1]  # nobody else gets it meanwhile
        for url in (f"http://127.0.0.1:{port}/api/", "http://no-such-host.invalid/api/"):
            with pytest.raises(ProviderError) as caught:
                post(posting_client("xoxb-1", url))
            assert not isinstance(caught.value, Unconfirmed)


def refused_for(seconds: str) -> Answer:
    return refusal("ratelimited", status=429, Retry_After=seconds)


def patient(client: WebClient, waited: list[float]) -> WebClient:
    """Let the client's waits be noted instead of slept through."""
    client.retry_handlers = [
        RateLimitRetry(wait=waited.append) if isinstance(handler, RateLimitRetry) else handler
        for handler in client.retry_handlers
    ]
    return client


@pytest.mark.parametrize("asked", ["86400", "99999999999", "9" * 400])
def test_slack_is_asked_again_within_minutes_however_long_it_wants_to_be_left_alone(
    slack: SlackStub, asked: str
) -> None:
    """Times of centuries end the thread that waits for them."""
    slack.will("users.info", refused_for(asked))
    with pytest.raises(Unavailable) as caught:
        read(repeatable_client("xoxb-1", slack.url))
    assert caught.value.retry_after_s == MAX_ADVISED_S


@pytest.mark.parametrize("asked", ["soon", "", "-5", "²", "Fri, 20 Nov 2026 09:00:00 GMT"])
def test_a_wait_nobody_can_read_is_a_second(slack: SlackStub, asked: str) -> None:
    """Whatever the header holds, the client neither stumbles nor hammers."""
    slack.will("users.info", refused_for(quote(asked, safe=" ,:")), Answer({"user": {}}))
    waited: list[float] = []
    read(patient(repeatable_client("xoxb-1", slack.url), waited))
    assert waited == [1.0]


def test_a_read_that_keeps_failing_is_a_provider_error(slack: SlackStub) -> None:
    """In our words, with what to do where that is known, and never Unconfirmed."""
    slack.will("users.info", HangUp)
    with pytest.raises(ProviderError, match="could not be reached to look up a user"):
        read(without_pauses(repeatable_client("xoxb-1", slack.url)))
    slack.will("users.info", refusal("missing_scope"))
    with pytest.raises(ProviderError, match="missing_scope; reinstall the app"):
        read(without_pauses(repeatable_client("xoxb-1", slack.url)))
    slack.will("users.info", Answer({"ok": False}, status=500))
    with pytest.raises(ProviderError, match="HTTP 500") as caught:
        read(without_pauses(repeatable_client("xoxb-1", slack.url)))
    assert not isinstance(caught.value, Unconfirmed)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal("message_not_found"), "message_not_found"),
        (refusal("ratelimited", status=429, Retry_After="60"), "ratelimited"),
        (refusal("internal_error", status=500), "internal_error"),
        (Answer(b"<html>", status=502), None),
    ],
)
@pytest.mark.parametrize("posting", [False, True])
def test_an_error_carries_slacks_word_as_its_code(
    slack: SlackStub, answer: Answer, code: str | None, posting: bool
) -> None:
    """Decisions are made on the code; there is none where the answer was not Slack's."""
    slack.will("chat.update", answer)
    client = repeatable_client("xoxb-1", slack.url)
    with pytest.raises(ProviderError) as caught, translate_slack_errors("update the card", posting=posting):
        client.chat_update(channel="C1", ts="1.1", text="x")
    assert caught.value.code == code


def test_no_error_repeats_the_token(slack: SlackStub) -> None:
    """What people read holds no secret."""
    slack.will("users.info", refusal("invalid_auth"))
    with pytest.raises(ProviderError) as caught:
        read(repeatable_client("xoxb-very-secret", slack.url))
    assert "very-secret" not in str(caught.value)
    assert ".env" in str(caught.value)


def test_a_rate_limit_that_never_ends_is_a_refusal(slack: SlackStub) -> None:
    """After a few waits."""
    slack.will("users.info", refused_for("0"))
    with pytest.raises(Unavailable, match="ratelimited"):
        read(repeatable_client("xoxb-1", slack.url))
    assert len(slack.of("users.info")) == 4


@pytest.mark.parametrize(("asked", "waits"), [("30", []), ("900", []), ("5", [5.0]), ("8", [8.0]), ("3", [3.0, 3.0])])
def test_nobody_waits_for_slack_longer_than_seconds(slack: SlackStub, asked: str, waits: list[float]) -> None:
    """In all, not each time; the error says for how long Slack wants none."""
    slack.will("users.info", refused_for(asked))
    waited: list[float] = []
    with pytest.raises(Unavailable, match=f"nothing was done, try again in {asked} s") as caught:
        read(patient(repeatable_client("xoxb-1", slack.url), waited))
    assert waited == waits
    assert sum(waited) <= PATIENCE_S
    assert caught.value.retry_after_s == float(asked)
    assert len(slack.of("users.info")) == len(waits) + 1


def test_an_update_that_slack_refuses_for_its_rate_is_not_waited_for(slack: SlackStub) -> None:
    """A newer state supersedes it; the caller is told when to come back."""
    slack.will("chat.update", refused_for("2"))
    waited: list[float] = []
    client = patient(repeatable_client("xoxb-1", slack.url), waited)
    with pytest.raises(Unavailable) as caught, translate_slack_errors("update the card"):
        client.chat_update(channel="C1", ts="1.1", text="x")
    assert (waited, caught.value.retry_after_s) == ([], 2.0)
    assert len(slack.of("chat.update")) == 1


def test_a_read_is_repeated_after_a_dropped_connection(slack: SlackStub) -> None:
    """Asking twice does no harm."""
    slack.will("users.info", HangUp, Answer({"user": {}}))
    read(without_pauses(repeatable_client("xoxb-1", slack.url)))
    assert len(slack.of("users.info")) == 2
