"""The offer on a closed card, what it becomes, and the dialogue: within Slack's limits, others' words inert."""

from __future__ import annotations

from blocks import ids
from blocks.cards.draft_actions import click_of, lesson_blocks, remember_modal
from blocks.cards.draft_card import CardFacts, card_blocks
from bot.casework.card_marks import LessonMark
from bot.domain.memory.lessons import build_lesson
from bot.domain.returns import Check, EvidenceKind, EvidenceRef
from bot.domain.threads import PendingReason, Resolution, Round, ThreadStatus
from tests.blocks.cards.test_draft_card import HOSTILE
from tests.blocks.limits import as_slack_takes_it, texts, view_as_slack_takes_it
from tests.builders import a_return, in_status
from tests.tables import each_row

CLOSED = in_status(ThreadStatus.CLOSED, dismiss_reason="the client is gone")


def shown(mark: LessonMark) -> str:
    blocks = as_slack_takes_it(card_blocks(CLOSED, CardFacts(link_to=lambda _: None, lesson=lambda _: mark)))
    return "\n".join(text for block in blocks for text in texts(block))


def test_a_closed_card_offers_one_button_that_carries_its_ending() -> None:
    """And nothing where there is nothing to remember."""
    [block] = lesson_blocks(LessonMark(is_offered=True), click_of(CLOSED))
    [button] = block.to_dict()["elements"]
    assert (button["text"]["text"], button["action_id"]) == ("Remember this", ids.REMEMBER)
    assert ids.decode_click(button["value"]) == click_of(CLOSED)
    assert "Remember" not in shown(LessonMark())


def test_what_was_remembered_is_named_and_offered_no_more() -> None:
    """By its file, whatever the file is called."""
    said = shown(LessonMark(remembered_as="memory/dismissed-`<!channel>`.md"))
    assert ":file_folder: remembered as `memory/dismissed-&lt;" in said
    assert "Remember this" not in said


@each_row("words", ["How often?", *HOSTILE.values()])
def test_the_dialogue_holds_any_lesson(words: str) -> None:
    """Who decided and when above it; nothing is kept by opening it."""
    state = in_status(
        ThreadStatus.CLOSED,
        resolution=Resolution.EDITED,
        question=words,
        draft_pending=f"Ask Ben. {words}",
        approved_by="U2",
    )
    lesson = build_lesson(state)
    assert lesson is not None
    view = view_as_slack_takes_it(remember_modal(click_of(state), state, lesson))
    assert view["callback_id"] == ids.REMEMBER_VIEW
    assert ids.decode_click(view["private_metadata"]) == click_of(state)
    assert "Edited and posted by <@U2> on <!date^" in view["blocks"][0]["elements"][0]["text"]
    assert view["blocks"][1]["element"]["initial_value"] == lesson.words


def test_a_lesson_among_the_evidence_is_told_before_its_file() -> None:
    """It proves nothing, so it has no mark of a check."""
    ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/dismissed.md", supports_claim="A draft was dismissed: gone")
    ret = a_return(evidence_refs=(ref,))
    checks = (Check(name="ref[0].resolves", ok=None, reason="a lesson"),)
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.APPROVAL,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret, checks=checks),),
    )
    blocks = as_slack_takes_it(card_blocks(state, CardFacts(link_to=lambda _: None)))
    said = "\n".join(text for block in blocks for text in texts(block))
    assert ":bulb: A draft was dismissed: gone · `memory/dismissed.md`" in said
