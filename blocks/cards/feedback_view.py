"""The two buttons under a posted reply, what a card shows of the votes, what approvers are told of one against. Pure.

Ordinary buttons, not Slack's `feedback_buttons` (docs/decisions/feedback-buttons.md).
"""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement

from blocks import ids
from blocks.text.marks import without_marks
from blocks.text.message_size import without_middle
from blocks.text.outgoing_text import context, escape, escape_text, quote_block, section
from bot.domain.questions.feedback import Feedback, Votes
from bot.domain.returns import EvidenceKind
from bot.domain.threads import ThreadState

QUESTION_CHARS: Final = 400
NAMED_NOTES: Final = 3


def feedback_buttons(state: ThreadState) -> Block:
    """Return the buttons under the reply of a thread."""
    value = ids.encode_feedback(state)
    return ActionsBlock(
        elements=[
            ButtonElement(text="👍 Helpful", action_id=ids.HELPFUL, value=value),
            ButtonElement(text="👎 Not helpful", action_id=ids.NOT_HELPFUL, value=value),
        ],
        block_id=f"votes:{value}",
    )


def votes_line(votes: Votes) -> list[Block]:
    """Return what people said of a reply; nothing where nobody did."""
    if not any(votes):
        return []
    parts = [f"👍 {votes.helpful:,} helpful"] if votes.helpful else []
    parts += [f"👎 {votes.not_helpful:,} not helpful"] if votes.not_helpful else []
    return [context(" · ".join(parts))]


def not_helpful_blocks(state: ThreadState, feedback: Feedback) -> list[Block]:
    """Return what stands below the card of a reply that somebody found not helpful: what was asked, what one can do."""
    who = " and ".join(f"<@{user}>" for user in feedback.against[:2]) or "Somebody"
    link = f" · <{feedback.permalink}|open thread>" if feedback.permalink else ""
    asked = without_middle(escape_text(without_marks(feedback.question or state.question)), QUESTION_CHARS)
    todo = [
        "• Ask anew: mention me in that thread and say what was missing.",
        "• Or answer there yourself.",
        f"• {_notes(state)}",
    ]
    said = f"👎 {who} found this reply *not helpful*{link}\n{quote_block(asked)}"
    return [
        section(said, block_id=ids.feedback_block_id(feedback.id)),
        section("\n".join(todo)),
        context("Said once for each reply; later votes are counted on the card"),
    ]


def not_helpful_text(feedback: Feedback) -> str:
    """Return the one line for notifications and screen readers."""
    return f"A reply was not helpful: {' '.join(escape_text(without_marks(feedback.question)).split())[:200]}"


def _notes(state: ThreadState) -> str:
    """Return which notes to correct: the one made of this reply, and those that it cites."""
    refs = state.investigator_return.evidence_refs if state.investigator_return else ()
    cited = [ref.ref.partition(":")[0] for ref in refs if ref.kind is EvidenceKind.MEMORY]
    names = list(dict.fromkeys([*([state.triage_file_path] if state.triage_file_path else []), *cited]))
    if not names:
        return "If a note misled it, correct that note in `memory/`."
    shown = ", ".join(f"`{escape(name.replace('`', ''))}`" for name in names[:NAMED_NOTES])
    return f"Correct the note it rests on, or that was made of it: {shown}."
