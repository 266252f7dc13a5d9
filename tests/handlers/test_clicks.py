"""What a click or a submit says of itself, however its payload is made."""

from __future__ import annotations

from typing import Any

from blocks import ids
from handlers.clicks import NAME_CHARS, Click, field_of, text_of
from tests.payloads import payload
from tests.tables import each_row


def test_a_click_names_its_person_its_place_and_its_value() -> None:
    """As Slack tells of it."""
    body = payload("block_actions")
    body["channel"], body["user"] = {"id": "C1"}, {"id": "U1", "team_id": "T1", "name": "ana"}
    body["container"] = {"message_ts": "1.2"}
    click = Click.of(body, {"value": "v"})
    assert (click.who, click.name, click.channel, click.message_ts) == (("U1", "T1"), "ana", "C1", "1.2")
    assert click.value == "v"


@each_row(
    "body, channel",
    [({"channel": {"id": "C1"}}, "C1"), ({"container": {"channel_id": "C2"}}, "C2"), ({"channel": None}, ""), ({}, "")],
)
def test_the_place_is_the_channel_or_the_containers(body: dict[str, Any], channel: str) -> None:
    """A dialogue and App Home have none."""
    assert Click.of(body, {}).channel == channel


def test_a_name_is_never_empty_and_never_long() -> None:
    """It stands in lines of ours."""
    assert Click.of({}, {}).name == "somebody"
    assert Click.of({"user": {"username": "x" * 500}}, {}).name == "x" * NAME_CHARS


def test_a_submit_carries_its_dialogues_metadata_and_inputs() -> None:
    """What was left as it was is None."""
    view = {
        "private_metadata": "m",
        "state": {"values": {"a": {ids.INPUT: {"value": "typed"}}, "b": {ids.INPUT: {"value": None}}}},
    }
    click = Click.submitted({"user": {"id": "U1"}, "team": {"id": "T1"}}, view)
    assert (click.value, click.who) == ("m", ("U1", "T1"))
    assert [text_of(click.view, block) for block in ("a", "b", "c")] == ["typed", None, None]
    assert field_of({}, "a") is None
