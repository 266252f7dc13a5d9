"""The dialogues: within Slack's limits, bound to their draft."""

from __future__ import annotations

from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_actions import context_modal, dismiss_modal, edit_modal
from bot.casework.clicks import DraftClick
from tests.blocks.limits import view_as_slack_takes_it
from tests.tables import each_row

CLICK = DraftClick(thread_id="T1.C1.1795165200.000100", version=3, draft_hash="00112233aabbccdd", seen=2)


@each_row(
    "view, callback_id",
    [
        (edit_modal(CLICK, "The limit is 5."), ids.EDIT_VIEW),
        (dismiss_modal(CLICK), ids.DISMISS_VIEW),
        (context_modal(CLICK), ids.CONTEXT_VIEW),
    ],
)
def test_each_dialogue_carries_its_draft_and_its_name(view: View, callback_id: str) -> None:
    """The submit knows which draft it is about, and nobody else's words."""
    found = view_as_slack_takes_it(view)
    assert found["callback_id"] == callback_id
    assert ids.decode_dialogue(found["private_metadata"]) == CLICK
    assert not ids.is_from_home({"view": found})


def test_the_editor_is_filled_with_the_draft_and_offers_to_save() -> None:
    """Post now is the button, saving the choice."""
    found = view_as_slack_takes_it(edit_modal(CLICK, "The limit is *5*."))
    reply, choice = found["blocks"]
    assert (reply["block_id"], reply["element"]["initial_value"]) == (ids.REPLY, "The limit is *5*.")
    assert choice["element"]["options"][0]["value"] == ids.ONLY_SAVE
    assert choice["optional"] is True
    assert found["submit"]["text"] == "Post now"


@each_row("draft", ["x" * 3_001, "word " * 700, "```\n" + "code\n" * 2_000 + "```"])
def test_of_a_longer_draft_the_editor_shows_the_beginning_and_says_so(draft: str) -> None:
    """What was cut is not lost unseen: the note says what a submit replaces."""
    note, reply, _ = view_as_slack_takes_it(edit_modal(CLICK, draft))["blocks"]
    shown = reply["element"]["initial_value"]
    assert len(shown) > 2_000
    assert draft.startswith(shown.removesuffix("\n```"))
    assert shown.count("```") % 2 == 0
    said = note["elements"][0]["text"]
    assert f"{len(draft):,} characters" in said
    assert "only this text is used" in said
