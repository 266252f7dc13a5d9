"""Old buttons and dialogues: whoever uses one is told what to type, the dead buttons go, and nothing is changed."""

from __future__ import annotations

from typing import Any, Final

import pytest
from slack_bolt import Respond

from blocks import ids
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.removed_buttons import GONE, RemovedButtons
from tests.handlers.slack_stub import SlackStub
from tests.payloads import payload

HEAD: Final = {
    "type": "section",
    "block_id": "triage_proposal:00112233aabbccdd",
    "text": {"type": "mrkdwn", "text": "x"},
}
OLD: Final = (
    "triage_accept_proposal",
    "triage_reject_proposal",
    "triage_choose_session",
    "triage_edit_tier:quick",
    "triage_edit_tier:hourly",
    "triage_edit_tier:daily",
    "triage_propose_fix",
    "triage_still_true",
    "triage_retire",
)
"""As releases wrote them on messages."""


class Edge:
    """The listeners, over a stub of Slack; what they told whoever clicked."""

    def __init__(self, slack: SlackStub) -> None:
        self.slack, self.told, self.acks = slack, [], 0
        self.buttons = RemovedButtons(say_beside(lambda *told: self.told.append(told), "C0OPS"))

    def click(self, action_id: str, blocks: object, **changes: Any) -> None:
        """Click a button of a message with these blocks."""
        body = {**payload("block_actions"), "response_url": f"{self.slack.url}respond"}
        body["message"] = {"text": "card", "blocks": blocks}
        body |= changes
        action = {"action_id": action_id, "value": "00112233aabbccdd|shop"}
        respond = Respond(response_url=body["response_url"])
        self.buttons.actions[action_id](self._ack, body, action, respond)

    def submit(self, callback_id: str, typed: str) -> None:
        """Submit a dialogue in which something was typed."""
        view = {"private_metadata": "shop|daily|", "state": {"values": {"tier_text": {ids.INPUT: {"value": typed}}}}}
        self.buttons.views[callback_id](self._ack, payload("view_submission"), view)

    def _ack(self) -> None:
        self.acks += 1


@pytest.fixture
def edge(slack: SlackStub) -> Edge:
    """Nobody has clicked yet."""
    return Edge(slack)


def row_of(*action_ids: str) -> dict[str, Any]:
    """Return a row of buttons."""
    return {"type": "actions", "elements": [{"type": "button", "action_id": one} for one in action_ids]}


@pytest.mark.parametrize("action_id", OLD)
def test_a_click_is_answered_in_private_and_the_button_goes(edge: Edge, action_id: str) -> None:
    """Where it was clicked; the rest of the message stays as it stood."""
    edge.click(action_id, [HEAD, row_of(action_id)])
    [(channel, user, text)] = edge.told
    assert (channel, user, edge.acks) == ("C0OPS", "U2", 1)
    assert text == GONE
    [sent] = edge.slack.of("respond")
    assert (sent["replace_original"], sent["text"], sent["blocks"]) == (True, "card", [HEAD])


def test_buttons_that_still_work_stay(edge: Edge) -> None:
    """On an alert only the offer of a fix goes."""
    edge.click(ids.PROPOSE_FIX, [HEAD, row_of(ids.INVESTIGATE, ids.PROPOSE_FIX, ids.RUN_NOW)])
    [sent] = edge.slack.of("respond")
    assert sent["blocks"] == [HEAD, row_of(ids.INVESTIGATE, ids.RUN_NOW)]


@pytest.mark.parametrize(
    ("blocks", "changes"),
    [
        ([HEAD, row_of(ids.PROPOSE_FIX)], {"message": None}),
        ([HEAD, row_of(ids.PROPOSE_FIX)], {"response_url": ""}),
        ([row_of(ids.PROPOSE_FIX)], {}),
        ([HEAD, {"type": "actions", "elements": "x"}, None, 7], {}),
        ("blocks", {}),
        (None, {}),
    ],
)
def test_what_cannot_be_shown_again_is_still_answered(edge: Edge, blocks: object, changes: dict[str, Any]) -> None:
    """A private message comes without its blocks; no message is left empty, and no hostile one raises."""
    edge.click(ids.PROPOSE_FIX, blocks, **changes)
    assert len(edge.told) == 1
    assert edge.slack.of("respond") == []


def test_a_dialogue_that_was_open_during_the_update_gives_its_text_back(edge: Edge) -> None:
    """Nothing typed is lost, and nothing is saved."""
    edge.submit(ids.TIER_VIEW, "- Disk: `df -h`")
    [(channel, _, text)] = edge.told
    assert (channel, edge.acks) == ("C0OPS", 1)
    assert text.startswith(GONE)
    assert "You wrote:\n```\n- Disk:" in text
