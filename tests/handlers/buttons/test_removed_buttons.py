"""Buttons of removed features: a sentence for whoever clicks, and a message without them."""

from __future__ import annotations

from typing import Any

from slack_sdk.errors import SlackApiError

from blocks import ids
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.removed_buttons import REMOVED_BUTTONS, RemovedButtons
from tests.handlers.buttons.test_draft_buttons import RecordedAck
from tests.tables import each_row

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "*Is this note still true?*"}}


def old_card(action_id: str) -> dict[str, Any]:
    """Return the body of a click on a card of an earlier version."""
    button = {"type": "button", "action_id": action_id, "text": {"type": "plain_text", "text": "x"}, "value": "../x"}
    return {
        "user": {"id": "U1", "team_id": "T1"},
        "channel": {"id": "C0OPS"},
        "response_url": "https://hooks.slack.com/actions/x",
        "message": {"text": "Is this note still true?", "blocks": [SECTION, {"type": "actions", "elements": [button]}]},
        "actions": [button],
    }


class Edge:
    """The listeners, what was told to whom, and what Slack was asked to show instead."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.shown: list[dict[str, Any]] = []
        self._refuses = refuses
        self._buttons = RemovedButtons(say_beside(lambda *said: self.told.append(said), "C0OPS"))

    def press(self, action_id: str, body: dict[str, Any]) -> RecordedAck:
        """Click a button of a card."""
        ack = RecordedAck([])
        self._buttons.actions[action_id](ack, body, body["actions"][0], self._respond)
        return ack

    def _respond(self, **said: Any) -> None:
        if self._refuses:
            raise SlackApiError("refused", {"ok": False, "error": "expired_url"})
        self.shown.append(said)


@each_row("action_id", sorted(REMOVED_BUTTONS))
def test_a_click_on_a_removed_button_is_answered_and_the_button_goes(action_id: str) -> None:
    """The text of the card stays; what the button carries is not read."""
    edge = Edge()
    assert edge.press(action_id, old_card(action_id)).answers == [{}]
    [(channel, user, said)] = edge.told
    assert (channel, user) == ("C0OPS", "U1")
    assert "`" in said
    assert [one["blocks"] for one in edge.shown] == [[SECTION]]
    assert edge.shown[0]["replace_original"] is True


def test_a_card_that_slack_does_not_change_is_answered_all_the_same() -> None:
    """The person still knows why nothing happened."""
    edge = Edge(refuses=True)
    edge.press(ids.RETIRE, old_card(ids.RETIRE))
    assert len(edge.told) == 1


def test_a_click_without_its_message_is_answered() -> None:
    """Nothing is changed where nobody can tell which card it was."""
    edge = Edge()
    edge.press(ids.RETIRE, {**old_card(ids.RETIRE), "message": None})
    assert (len(edge.told), edge.shown) == (1, [])


def test_the_sentence_about_notes_names_the_command_that_retires_one() -> None:
    """A person who wanted to retire a note can still do it."""
    edge = Edge()
    edge.press(ids.RETIRE, old_card(ids.RETIRE))
    assert "triage files retire memory/" in edge.told[0][2]
