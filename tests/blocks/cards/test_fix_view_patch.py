"""A proposed patch on the card and in its dialogue."""

from __future__ import annotations

from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.cards.fix_view import diff_modal, patch_line
from bot.domain.returns import ProposedPatch
from bot.domain.threads import PendingReason, ThreadStatus
from tests.blocks.cards.test_draft_card import FEW
from tests.blocks.cards.test_evidence_modal import LINK_TO, seen
from tests.blocks.limits import as_slack_takes_it, shown, view_as_slack_takes_it
from tests.builders import a_return, in_status
from tests.domain.test_patches import a_patch
from tests.tables import each_row


def test_the_card_says_that_there_is_one() -> None:
    """Title, files and lines; the diff is in the dialogue."""
    ret = a_return(proposed_patch=a_patch())
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret)
    said = shown(card_blocks(state, CardFacts(link_to=LINK_TO)))
    assert "*Proposed patch*: Raise the limit · app/retry.py, docs/retry.md · +3 −1 lines. Not applied" in said
    assert "return 5" not in said


def test_the_dialogue_shows_the_diff_and_why() -> None:
    """Without the process's secrets."""
    said = seen(diff_modal(a_patch(), {"Five are"}))
    assert "-    return 5\n+    limit = 7" in said
    assert "too few" in said
    assert "Five are" not in said


@each_row("text", FEW.values())
def test_no_patch_breaks_card_or_dialogue(text: str) -> None:
    """The same hostile text as title, diff and reason."""
    patch = ProposedPatch(title=text, diff=text, rationale=text)
    if line := patch_line(patch):
        as_slack_takes_it(line)
        view_as_slack_takes_it(diff_modal(patch))
