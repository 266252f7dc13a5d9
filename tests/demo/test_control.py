"""The control client against the real server and a tiny real bot."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests.demo.bolt_app import running_app
from tests.hands import Control, checked, find_card, text_value

_QUESTION = "How does the client retry?"


@pytest.fixture
def bot(slack: LocalSlack) -> Iterator[list[dict[str, Any]]]:
    """The tiny bot, connected; what it was sent is the fixture's value."""
    with running_app(slack) as seen:
        yield seen


@pytest.fixture
def card(control: Control, bot: list[dict[str, Any]]) -> dict[str, Any]:
    """The card the tiny bot posts for a question of Chloe's."""
    control.say(HELP.channel_id, CHLOE.user_id, _QUESTION)
    return control.wait_for(lambda: find_card(control.messages(OPS.channel_id), _QUESTION), "the card")


def _click(control: Control, card: dict[str, Any], action_id: str, user: str = ANA.user_id) -> None:
    element = find_element(card, action_id)
    assert element is not None
    control.click(OPS.channel_id, card["ts"], user, **element.click_fields())


def _replies(control: Control, card: dict[str, Any]) -> list[str]:
    return [m["text"] for m in find_replies(control.messages(OPS.channel_id), card["ts"], DEMO.bot_id)]


def test_a_message_reaches_the_bot_and_its_card_comes_back(control: Control, card: dict[str, Any]) -> None:
    """The whole round trip over Socket Mode; the card is found by its question and by its block id."""
    assert control.is_connected()
    assert find_card(control.messages(OPS.channel_id), "question") == card


def test_a_click_carries_user_block_and_value(
    control: Control, bot: list[dict[str, Any]], card: dict[str, Any]
) -> None:
    """The bot sees who clicked what, and answers in the card's thread."""
    _click(control, card, "approve", BEN.user_id)
    control.wait_for(lambda: _replies(control, card) == ["clicked"], "the answer", channel=OPS.channel_id)
    [body] = [body for body in bot if "actions" in body]
    assert body["user"]["id"] == BEN.user_id
    assert body["user"]["team_id"] == DEMO.team_id
    action = body["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("approve", "buttons", "approve-value")


def test_a_modal_is_submitted_with_several_lines(control: Control, card: dict[str, Any]) -> None:
    """Edit opens the modal, a submit closes it, line ends survive."""
    _click(control, card, "edit")
    view = control.wait_for(control.modals.current, "the modal")
    assert view["callback_id"] == "edit_view"
    values = {"reply": {"value": text_value("one\ntwo")}, "only_save": {"value": checked("only_save")}}
    assert control.modals.submit(ANA.user_id, values) == {}
    assert control.modals.current() is None
    control.wait_for(lambda: _replies(control, card) == ["one\ntwo"], "the reply", channel=OPS.channel_id)


def test_two_people_click_at_once(control: Control, card: dict[str, Any]) -> None:
    """One client serves several threads, as the journeys about races need."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: _click(control, card, "approve", user), [ANA.user_id, BEN.user_id]))
    control.wait_for(lambda: len(_replies(control, card)) == 2, "both answers", channel=OPS.channel_id)
