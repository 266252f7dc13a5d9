"""The audit card of a reply that was sent automatically, and what a draft's card says of automatic replies. Pure."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement, ConfirmObject, MarkdownTextObject

from blocks import ids
from blocks.text.escaping import local_time
from blocks.text.marks import without_marks
from blocks.text.message_size import fit_message, without_middle
from blocks.text.outgoing_text import context, escape, escape_text, quote_block, section, to_mrkdwn, truncate, verbatim
from bot.domain.questions.auto_reply import AutoReply
from bot.domain.questions.conditions import AutonomyMode
from bot.domain.threads import ThreadState

QUESTION_CHARS: Final = 600
REPLY_CHARS: Final = 2_500
WITHDRAWN: Final = (
    ":leftwards_arrow_with_hook: <@{by}> withdrew this automatic reply. Please do not rely on it; a person will answer."
)


def audit_blocks(reply: AutoReply) -> list[Block]:
    """Return the card: what was asked, what was sent, and the way back; taken back, who did that."""
    link = f" · <{reply.permalink}|open thread>" if reply.permalink else ""
    asked = without_middle(escape_text(without_marks(reply.question)), QUESTION_CHARS)
    said = f":robot_face: *Sent automatically* in <#{reply.chat_id}>{link}\n{quote_block(asked)}"
    parts: list[Block] = [
        section(said, block_id=ids.audit_block_id(reply.id)),
        verbatim(truncate(to_mrkdwn(reply.reply), REPLY_CHARS)),
    ]
    if reply.taken_back_by is not None:
        at = f" on {local_time(reply.taken_back_at)}" if reply.taken_back_at else ""
        back = (
            f":leftwards_arrow_with_hook: *Taken back* by <@{reply.taken_back_by}>{at}. It counts as a false positive."
        )
        return fit_message([*parts, section(f"{back} Please answer the asker in the thread.")])
    parts.append(
        context("Nobody approved this reply. If it is wrong, take it back: that counts against automatic replies")
    )
    return fit_message([*parts, _buttons(reply)])


def audit_text(reply: AutoReply) -> str:
    """Return the one line for notifications and screen readers."""
    done = "Taken back" if reply.taken_back_by else "Sent automatically"
    return truncate(f"{done}: {' '.join(escape_text(without_marks(reply.question)).split())}", 300)


def withdrawal_text(reply: AutoReply) -> str:
    """Return what stands in the place of a reply that was taken back."""
    return WITHDRAWN.format(by=reply.taken_back_by)


def auto_line(state: ThreadState) -> list[Block]:
    """Return whether a waiting draft would have been sent, or why it was not; nothing for one that may never be."""
    judged = state.auto
    if judged is None or not judged.qualifies or judged.draft_hash != state.draft_hash:
        return []
    if judged.mode is AutonomyMode.SHADOW:
        return [context(":ghost: *Would have been sent automatically* · every condition holds (`autonomy: shadow`)")]
    why = "; ".join(escape(one.said) for one in judged.missing) or "something changed, or Slack did not take it"
    return [context(f":robot_face: Not sent automatically: {why}")]


def _buttons(reply: AutoReply) -> ActionsBlock:
    confirm = ConfirmObject(
        title="Take this reply back?",
        text=MarkdownTextObject(text="The asker sees that it was withdrawn. It counts as a false positive."),
        confirm="Take back",
        deny="Leave it",
    )
    button = ButtonElement(text="Take back", action_id=ids.TAKE_BACK, value=reply.id, style="danger", confirm=confirm)
    return ActionsBlock(elements=[button], block_id=f"audit_actions:{reply.id}")
