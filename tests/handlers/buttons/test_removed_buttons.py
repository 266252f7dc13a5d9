"""Buttons of removed features: a sentence for whoever clicks, and a card without buttons."""

from __future__ import annotations

from typing import Any

import pytest

from blocks import ids
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.removed_buttons import REMOVED, RemovedButtons
from tests.handlers.buttons.test_draft_buttons import RecordedAck
from tests.handlers.slack_stub import SlackStub, a_poster, a_publisher, refusal

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "*Is this note still true?*"}}


def old_card(action_id: str) -> dict[str, Any]:
    """Return the body of a click on a card of an earlier version."""
    button = {"type": "button", "action_id": action_id, "text": {"type": "plain_text", "text": "x"}, "value": "../x"}
    return {
        "user": {"id": "U1", "team_id": "T1"},
        "channel": {"id": "C0OPS"},
        "container": {"message_ts": "1700000000.000100"},
        "message": {"text": "Is this note still true?", "blocks": [SECTION, {"type": "actions", "elements": [button]}]},
        "actions": [button],
    }


class Edge:
    """The listeners over the stub of Slack, and what was told."""

    def __init__(self, slack: SlackStub) -> None:
        self.told: list[tuple[str, str, str]] = []
        say = say_beside(lambda *said: self.told.append(said), "C0OPS")
        self.buttons = RemovedButtons(a_publisher(slack.url, a_poster(slack.url)), say=say)

    def press(self, action_id: str, body: dict[str, Any]) -> RecordedAck:
        """Click a button of a card."""
        ack = RecordedAck([])
        self.buttons.actions[action_id](ack, body, body["actions"][0])
        return ack


@pytest.mark.parametrize("action_id", sorted(REMOVED))
def test_a_click_on_a_removed_card_is_answered_and_its_buttons_go(slack: SlackStub, action_id: str) -> None:
    """The text of the card stays; what the button carries is not read."""
    edge = Edge(slack)
    ack = edge.press(action_id, old_card(action_id))
    assert ack.answers == [{}]
    assert edge.told == [("C0OPS", "U1", REMOVED[action_id])]
    [update] = slack.of("chat.update")
    assert "still true" in str(update)
    assert action_id not in str(update)


def test_a_card_that_slack_does_not_change_is_answered_all_the_same(slack: SlackStub) -> None:
    """The person still knows why nothing happened."""
    slack.will("chat.update", refusal("channel_not_found"))
    edge = Edge(slack)
    edge.press(ids.RETIRE, old_card(ids.RETIRE))
    assert edge.told == [("C0OPS", "U1", REMOVED[ids.RETIRE])]


def test_a_click_without_its_message_is_answered(slack: SlackStub) -> None:
    """Nothing is changed where nobody can tell which card it was."""
    edge = Edge(slack)
    edge.press(ids.RETIRE, {**old_card(ids.RETIRE), "message": None})
    assert len(edge.told) == 1
    assert slack.of("chat.update") == []


def test_the_sentence_about_notes_names_the_command_that_retires_one() -> None:
    """A person who wanted to retire a note can still do it."""
    assert "triage files retire" in REMOVED[ids.RETIRE]
