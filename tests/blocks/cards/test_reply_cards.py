"""The buttons under a reply, and what approvers read of one that did not help."""

from __future__ import annotations

from datetime import timedelta

import pytest

from blocks import ids
from blocks.cards.reply_cards import (
    MAX_SECTIONS,
    not_helpful_blocks,
    not_helpful_text,
    reply_footer,
    reply_messages,
)
from blocks.text.splitting import MESSAGE_BLOCK_CHARS, MESSAGE_BLOCKS, chars_of
from bot.casework.posting.reply_proof import proof_of
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import PendingReason, ThreadStatus
from bot.errors import InputError
from tests.builders import NOW, THREAD_ID, a_return, in_status
from tests.tables import each_row

STATE = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
HOSTILE = "<!channel> <https://evil.example|x> `code` *bold*\n> " * 40


def some_feedback(**changes: object) -> Feedback:
    votes = {"U1": Vote(is_helpful=False, at=NOW), "U2": Vote(is_helpful=True, at=NOW + timedelta(minutes=1))}
    return Feedback.model_validate(
        {"id": "0" * 16, "thread_id": THREAD_ID, "question": "Why?", "votes": votes} | changes
    )


@each_row("draft", ["Yes.", "word " * 10_000, "- a\n" * 9_000, "```\n" + "x\n" * 20_000 + "```"])
def test_every_message_of_a_reply_has_room_for_the_buttons(draft: str) -> None:
    """Slack counts the text of all blocks, and the blocks."""
    footer = reply_footer(STATE, proof_of(STATE), HOSTILE, asks_feedback=True)
    for blocks in reply_messages(draft):
        assert chars_of([*blocks, *footer]) <= MESSAGE_BLOCK_CHARS
        assert len(blocks) + len(footer) <= MAX_SECTIONS + 2 <= MESSAGE_BLOCKS


def test_a_button_names_the_reply_and_nothing_else_is_read() -> None:
    """As hostile as any value; so is the name of who approved it."""
    line, row = (block.to_dict() for block in reply_footer(STATE, proof_of(STATE), HOSTILE, asks_feedback=True))
    assert "<!channel>" not in str(line)
    assert [one["action_id"] for one in row["elements"]] == [ids.SHOW_PROOF, ids.HELPFUL, ids.NOT_HELPFUL]
    voted = ids.THREAD_PART.decode(row["elements"][0]["value"])
    thread_id, reply_id = voted.thread_id, voted.digest
    assert (thread_id, len(reply_id)) == (THREAD_ID, 16)
    for value in ("", None, "x", f"{THREAD_ID}|", f"../x|{reply_id}", f"{THREAD_ID}|{reply_id}0"):
        with pytest.raises(InputError):
            ids.THREAD_PART.decode(value)


def test_what_approvers_read_names_who_and_what_to_do() -> None:
    """And the notes the reply rests on."""
    memory = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/retries.md:3", quote="five")
    state = STATE.evolve(investigator_return=a_return(evidence_refs=(memory,)), triage_file_path="memory/new.md")
    shown = str([block.to_dict() for block in not_helpful_blocks(state, some_feedback(permalink="https://x.test/p1"))])
    assert "<@U1> found this reply *not helpful* · <https://x.test/p1|open thread>" in shown
    assert "<@U2>" not in shown
    assert "Correct the note it rests on, or that was made of it: `memory/new.md`, `memory/retries.md`." in shown
    assert "If a note misled it" in str([block.to_dict() for block in not_helpful_blocks(STATE, some_feedback())])


def test_a_hostile_question_stays_text_and_within_the_limits() -> None:
    """In the blocks and in the line for notifications."""
    feedback = some_feedback(question=HOSTILE)
    blocks = not_helpful_blocks(STATE, feedback)
    assert chars_of(blocks) <= 3_000
    assert "<!channel>" not in str([block.to_dict() for block in blocks])
    assert "<!" not in not_helpful_text(feedback)
