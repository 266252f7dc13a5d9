"""Reactions and lines for the asker over Slack: harmless twice, never waited for, refused by Slack's own word."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.domain.acknowledgement import Reaction
from bot.errors import Unavailable
from handlers.answers import SlackAskerChat
from handlers.transport.rate_limits import REACTION_BURST
from handlers.transport.slack_clients import repeatable_client
from tests.builders import QUESTION_TS, a_thread
from tests.handlers.slack_stub import Answer, SlackStub, a_poster, refusal, slack_stub

PLACE = ("C1", QUESTION_TS)


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with slack_stub() as stub:
        yield stub


@pytest.fixture
def chat(slack: SlackStub) -> SlackAskerChat:
    return SlackAskerChat(repeatable_client("xoxb-1", slack.url), a_poster(slack.url))


def test_a_reaction_is_set_on_the_message_and_taken_away(slack: SlackStub, chat: SlackAskerChat) -> None:
    """By Slack's names for message and emoji."""
    chat.add_reaction(*PLACE, Reaction.WORKING)
    chat.remove_reaction(*PLACE, Reaction.WORKING)
    asked = {"channel": "C1", "timestamp": QUESTION_TS, "name": "eyes"}
    assert (slack.of("reactions.add"), slack.of("reactions.remove")) == ([asked], [asked])


def test_slack_asked_for_patience_is_left_alone_meanwhile(slack: SlackStub, chat: SlackAskerChat) -> None:
    """One request, no sleep, and the next one waits for as long as Slack said."""
    slack.will("reactions.add", refusal("ratelimited", status=429, Retry_After="7"))
    for _ in range(2):
        with pytest.raises(Unavailable) as busy:
            chat.add_reaction(*PLACE, Reaction.WORKING)
        assert busy.value.retry_after_s == pytest.approx(7, abs=1)
    assert len(slack.of("reactions.add")) == 1


def test_a_storm_of_questions_keeps_slacks_pace(slack: SlackStub, chat: SlackAskerChat) -> None:
    """What is over it is refused at once, and tried again by whoever asked."""
    for _ in range(REACTION_BURST):
        chat.add_reaction(*PLACE, Reaction.WORKING)
    with pytest.raises(Unavailable):
        chat.add_reaction(*PLACE, Reaction.WORKING)
    assert len(slack.of("reactions.add")) == REACTION_BURST


@pytest.mark.parametrize(("asked_as", "thread_ts"), [(QUESTION_TS, None), ("1700000900.000100", QUESTION_TS)])
def test_only_the_asker_is_told_where_they_asked(
    slack: SlackStub, chat: SlackAskerChat, asked_as: str, thread_ts: str | None
) -> None:
    """In the channel, or in the thread in which the question stands."""
    slack.will("chat.postEphemeral", Answer())
    chat.tell_asker(a_thread(original_message_id=asked_as), "I am looking into this.")
    [told] = slack.of("chat.postEphemeral")
    assert (told["user"], told.get("thread_ts")) == (a_thread().original_sender_id, thread_ts)
