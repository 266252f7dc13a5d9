"""What only one person sees, over the wire."""

from __future__ import annotations

import pytest
from slack_bolt import Respond

from bot.errors import Unavailable
from handlers.answers import ephemeral, respond_privately
from handlers.transport.slack_clients import repeatable_client
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal


def test_an_answer_to_a_click_is_for_one_pair_of_eyes(slack: SlackStub) -> None:
    """Ephemeral, in the ops channel, to the one who clicked."""
    ephemeral(repeatable_client("xoxb-1", slack.url), a_poster(slack.url))("C0OPS", "U2", "Posted.")
    [call] = slack.of("chat.postEphemeral")
    assert (call["channel"], call["user"], call["text"]) == ("C0OPS", "U2", "Posted.")


def test_who_is_not_in_the_channel_is_answered_in_private(slack: SlackStub) -> None:
    """What somebody typed must not be lost because Slack shows it to members only; an outage is no such refusal."""
    tell = ephemeral(repeatable_client("xoxb-1", slack.url), a_poster(slack.url))
    slack.will("chat.postEphemeral", refusal("user_not_in_channel"))
    slack.will("conversations.open", Answer({"channel": {"id": "D2"}}))
    tell("C0OPS", "U2", "You wrote: five")
    [call] = slack.of("chat.postMessage")
    assert (call["channel"], call["text"]) == ("D2", "You wrote: five")
    slack.will("chat.postEphemeral", refusal("internal_error", status=500))
    with pytest.raises(Unavailable):
        tell("C0OPS", "U2", "You wrote: five")
    assert len(slack.of("chat.postMessage")) == 1


def test_an_answer_at_a_response_url_says_its_times_in_the_readers_zone(slack: SlackStub) -> None:
    """Beside what was typed, for one pair of eyes."""
    respond_privately(Respond(response_url=f"{slack.url}respond"), "Paused since 2026-11-21 03:12 UTC.")
    [said] = slack.of("respond")
    assert said["text"].startswith("Paused since <!date^1795230720^")
    assert (said["response_type"], said["replace_original"]) == ("ephemeral", False)
