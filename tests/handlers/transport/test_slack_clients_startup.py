"""A start waits for Slack as long as that may help, and no longer."""

from __future__ import annotations

import pytest

from bot.errors import ProviderError
from handlers.transport.slack_clients import MAX_ADVISED_S, MAX_PAUSE_S, brief_client, patiently
from handlers.transport.workspace import SlackWorkspace
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, refusal

HICCUPS = [
    HangUp,
    Answer({"ok": False}, status=500),
    Answer(b"<html>bad gateway</html>", status=502),
    Answer(b"<html>gone fishing</html>", status=404),
    Answer(b"<html>hello</html>"),
    Answer(b""),
    Answer(b"[]"),
    Answer(b"null"),
    Answer(b"17"),
    Answer(b'"x"'),
    Answer(b"\xff\xfe"),
    Answer(b'{"ok": true}'),
    Answer(b'{"ok": true, "channel": null}'),
    Answer(b'{"ok": false}'),
    refusal("ratelimited"),
    refusal("ratelimited", status=429, Retry_After="3"),
    refusal("fatal_error"),
    refusal("service_unavailable", status=503),
]


def a_workspace(slack: SlackStub) -> SlackWorkspace:
    return SlackWorkspace(brief_client("xoxb-1", slack.url, timeout_s=60), team_id="T1")


@pytest.mark.parametrize("hiccup", HICCUPS)
def test_a_hiccup_is_waited_out_and_said(
    slack: SlackStub, hiccup: Answer | type[HangUp], caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it is; three in a row, then Slack answers."""
    good = Answer({"channel": {"id": "C0OPS", "is_private": True}})
    slack.will("conversations.info", hiccup, hiccup, hiccup, good)
    waits: list[float] = []
    found = patiently(lambda: a_workspace(slack).channel("C0OPS"), wait=waits.append)
    assert found.is_private
    assert len(waits) == 3
    assert waits == sorted(waits)
    assert caplog.text.count("triage waits for Slack") == 3


def test_slacks_advice_is_kept_and_pauses_have_an_end(slack: SlackStub) -> None:
    """At least Retry-After, at most a minute of our own; an absurd advice is asked about in between."""
    later = [refusal("ratelimited", status=429, Retry_After=asked) for asked in ("120", "999999")]
    good = Answer({"channel": {"id": "C0OPS", "is_private": True}})
    slack.will("conversations.info", *later, *[refusal("fatal_error")] * 9, good)
    waits: list[float] = []
    patiently(lambda: a_workspace(slack).channel("C0OPS"), wait=waits.append)
    assert waits[:2] == [120.0, MAX_ADVISED_S]
    assert waits[-1] == MAX_PAUSE_S


@pytest.mark.parametrize(
    "code", ["invalid_auth", "not_authed", "account_inactive", "token_revoked", "missing_scope", "channel_not_found"]
)
def test_what_slack_refuses_for_good_is_not_waited_for(slack: SlackStub, code: str) -> None:
    """One request, and the sentence names it."""
    slack.will("conversations.info", refusal(code))
    with pytest.raises(ProviderError, match=code):
        patiently(lambda: a_workspace(slack).channel("C0OPS"), wait=pytest.fail)
    assert len(slack.of("conversations.info")) == 1
