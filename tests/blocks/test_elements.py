"""The frame of every dialogue is one that Slack takes."""

from __future__ import annotations

from blocks.elements import TITLE_CHARS, form, notice
from blocks.text.outgoing_text import section
from tests.blocks.limits import view_as_slack_takes_it


def test_a_form_carries_what_it_is_about_and_can_be_left() -> None:
    """Whatever its title says."""
    shown = form(
        "triage_test_view",
        "shop|daily",
        title="A title\nthat is too long for Slack",
        submit="Save",
        blocks=[section("x")],
    )
    found = view_as_slack_takes_it(shown)
    assert (found["callback_id"], found["private_metadata"]) == ("triage_test_view", "shop|daily")
    assert len(found["title"]["text"]) <= TITLE_CHARS
    assert (found["submit"]["text"], found["close"]["text"]) == ("Save", "Cancel")


def test_a_notice_has_nothing_to_submit() -> None:
    """It is only read."""
    found = view_as_slack_takes_it(notice("Saved", [section("x")]))
    assert "submit" not in found
    assert found["close"]["text"] == "Close"
