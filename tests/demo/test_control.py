"""The control client against the real server and a tiny real bot."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bot.errors import InputError, ProviderError
from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests.demo.bolt_app import running_app
from tests.hands import Control, checked, find_card, find_option, text_value

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


def test_a_menu_option_can_be_chosen(control: Control, bot: list[dict[str, Any]], card: dict[str, Any]) -> None:
    """The chosen option is found by its label and sent whole."""
    option = find_option(card, "Show evidence")
    assert option is not None
    control.click(OPS.channel_id, card["ts"], ANA.user_id, **option.click_fields())
    [body] = control.wait_for(lambda: [body for body in bot if "actions" in body], "the click to arrive")
    assert body["actions"][0]["selected_option"]["value"] == "show"


def test_a_modal_is_submitted_with_several_lines(control: Control, card: dict[str, Any]) -> None:
    """Edit opens the modal, a submit closes it, line ends survive."""
    _click(control, card, "edit")
    view = control.wait_for(control.modals.current, "the modal")
    assert view["callback_id"] == "edit_view"
    values = {"reply": {"value": text_value("one\ntwo")}, "only_save": {"value": checked("only_save")}}
    assert control.modals.submit(ANA.user_id, values) == {}
    assert control.modals.current() is None
    control.wait_for(lambda: _replies(control, card) == ["one\ntwo"], "the reply", channel=OPS.channel_id)


def test_a_refused_modal_says_why_and_stays(control: Control, card: dict[str, Any]) -> None:
    """Errors come back by block id; Cancel then closes the modal."""
    _click(control, card, "edit")
    control.wait_for(control.modals.current, "the modal")
    errors = control.modals.submit(ANA.user_id, {"reply": {"value": text_value("")}})
    assert errors == {"reply": "An empty reply helps nobody."}
    assert control.modals.current() is not None
    control.modals.close(ANA.user_id)
    assert control.modals.current() is None


def test_no_modal_no_submit(control: Control) -> None:
    """Submitting nothing is a mistake of the test, not a silent success."""
    with pytest.raises(InputError, match="no modal"):
        control.modals.submit(ANA.user_id, {})


def test_a_command_is_answered(control: Control, bot: list[dict[str, Any]]) -> None:
    """The ephemeral answer shows up among the channel's messages."""
    control.command(ANA.user_id, HELP.channel_id, "status")
    message = control.wait_for(lambda: control.messages(HELP.channel_id), "the answer")[-1]
    assert (message["text"], message["subtype"]) == ("you typed status", "ephemeral")


def test_edits_and_deletions_reach_the_bot(control: Control, bot: list[dict[str, Any]]) -> None:
    """Each arrives as its own event; only the author may do it."""
    ts = control.say(HELP.channel_id, CHLOE.user_id, "helo")
    control.edit(HELP.channel_id, ts, CHLOE.user_id, "hello")
    control.wait_for(lambda: "message_changed" in _subtypes(bot), "the edit to arrive")
    with pytest.raises(InputError, match="not_authorized"):
        control.delete(HELP.channel_id, ts, ANA.user_id)
    control.delete(HELP.channel_id, ts, CHLOE.user_id)
    control.wait_for(lambda: "message_deleted" in _subtypes(bot), "the deletion to arrive")
    assert control.messages(HELP.channel_id) == []


def _subtypes(bot: list[dict[str, Any]]) -> list[str | None]:
    """Return the subtypes of the events that the bot was sent."""
    return [body.get("event", {}).get("subtype") for body in list(bot)]


def test_home_opens(control: Control, bot: list[dict[str, Any]]) -> None:
    """Opening App Home sends its event."""
    control.open_home(BEN.user_id)
    control.wait_for(
        lambda: any(body.get("event", {}).get("type") == "app_home_opened" for body in bot), "the event to arrive"
    )


def test_two_people_click_at_once(control: Control, card: dict[str, Any]) -> None:
    """One client serves several threads, as the journeys about races need."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: _click(control, card, "approve", user), [ANA.user_id, BEN.user_id]))
    control.wait_for(lambda: len(_replies(control, card)) == 2, "both answers", channel=OPS.channel_id)


def test_waiting_in_vain_shows_what_was_there(control: Control) -> None:
    """The failure names what was awaited, for how long, and quotes the channel."""
    control.say(HELP.channel_id, CHLOE.user_id, "something else")
    with pytest.raises(ProviderError, match=r"Waited 0\.2 s for a miracle(.|\n)*something else"):
        control.wait_for(lambda: None, "a miracle", timeout_s=0.2, channel=HELP.channel_id)


def test_a_stopped_server_is_reported() -> None:
    """Nobody sees a vendor's traceback."""
    with pytest.raises(ProviderError, match="does not answer"):
        Control("http://localhost:9").messages(HELP.channel_id)
    with pytest.raises(ProviderError, match="does not answer"):
        Control("http://localhost:9").modals.current()
