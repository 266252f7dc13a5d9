"""The parts of cards and dialogues: a frame that Slack takes, and buttons that say what they are about."""

from __future__ import annotations

from blocks.elements import TITLE_CHARS, actions, button, form, notice, with_spoken_names
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


def test_a_button_says_to_a_screen_reader_what_it_is_about() -> None:
    """One in a row the message's first text, or in a home the text above it; one beside a text that text."""
    row = actions("row", button("Approve", "a", "1"))
    beside = section(":mag: A close match: `x.py:3` &lt;!channel&gt;", accessory=button("Use this", "b", "2"))
    blocks = [section("*Ana* asked: <https://x.io|where>?"), beside, row]
    with_spoken_names(blocks)
    assert beside.accessory.accessibility_label == "Use this: A close match: x.py:3 !channel"
    assert row.elements[0].accessibility_label == "Approve: Ana asked: where ?"
    with_spoken_names(blocks, by_part=True)
    assert row.elements[0].accessibility_label == "Approve: A close match: x.py:3 !channel"
