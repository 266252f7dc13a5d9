"""A reply as people see it: the messages it is posted as, the votes under it, the card of an automatic one. Pure.

A reply is one message or, where Slack takes no more in one, several; cards show the same.
The votes are ordinary buttons, not Slack's `feedback_buttons` (docs/decisions/slack-views.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block, MarkdownTextObject, SectionBlock

from blocks import ids
from blocks.elements import actions, button, confirmation
from blocks.text.message_size import fit_message, without_middle
from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import context, escape, escape_text, local_time, plain, quote_block, section, verbatim
from blocks.text.splitting import MESSAGE_BLOCK_CHARS, SECTION_CHARS, TRUNCATED, chars_of, split, truncate
from bot.casework.posting.reply_proof import ReplyProof, proof_words
from bot.domain.questions.autonomy_record import AutonomyMode, AutoReply
from bot.domain.questions.feedback import Feedback, Votes
from bot.domain.returns import EvidenceKind
from bot.domain.threads import ThreadState, reply_id_of

VOTED_CHARS: Final = 400
NAMED_NOTES: Final = 3
NAME_CHARS: Final = 40
PROOF_CHARS: Final = 300

QUESTION_CHARS: Final = 600
AUDIT_CHARS: Final = 2_500
WITHDRAWN: Final = (
    ":leftwards_arrow_with_hook: <@{by}> withdrew this automatic reply. Please do not rely on it; a person will answer."
)

NOTIFICATION_CHARS: Final = 3_000

MAX_SECTIONS: Final = 25
"""Of one message: half of what Slack takes."""

REPLY_CHARS: Final = MESSAGE_BLOCK_CHARS - 400
"""Of one message; the rest is for what stands above it before it is posted, and below it then."""

MAX_MESSAGES: Final = 10

CUT_NOTE: Final = f"_{TRUNCATED}: one reply has at most {MAX_MESSAGES} messages_"


def reply_footer(state: ThreadState, proof: ReplyProof, approver: str | None, *, asks_feedback: bool) -> list[Block]:
    """Return what stands under the reply of a thread: what of it is proved, and the buttons."""
    line = context(proof_line(proof, approver))
    line.block_id = ids.proof_block_id(reply_id_of(state))
    value = ids.THREAD_PART.encode(ids.ThreadPart(state.thread_id, reply_id_of(state)))
    row = [button("Show proof", ids.SHOW_PROOF, value)] if proof.cited else []
    if asks_feedback:
        row += button("👍 Helpful", ids.HELPFUL, value), button("👎 Not helpful", ids.NOT_HELPFUL, value)
    return [line, *([actions(f"votes:{value}", *row)] if row else [])]


def proof_line(proof: ReplyProof, approver: str | None) -> str:
    """Return what of a reply is proved, and who approved it; their name is foreign."""
    return truncate(proof_words(proof, approver and escape(plain(approver, NAME_CHARS))), PROOF_CHARS)


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
    asked = without_middle(escape_text(feedback.question or state.question), VOTED_CHARS)
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
    return truncate(f"A reply was not helpful: {' '.join(escape_text(feedback.question).split())}", 230)


def _notes(state: ThreadState) -> str:
    """Return which notes to correct: the one made of this reply, and those that it cites."""
    refs = state.evidence_refs
    cited = [ref.ref.partition(":")[0] for ref in refs if ref.kind is EvidenceKind.MEMORY]
    names = list(dict.fromkeys([*([state.triage_file_path] if state.triage_file_path else []), *cited]))
    if not names:
        return "If a note misled it, correct that note in `memory/`."
    shown = ", ".join(f"`{escape(name.replace('`', ''))}`" for name in names[:NAMED_NOTES])
    return f"Correct the note it rests on, or that was made of it: {shown}."


def audit_blocks(reply: AutoReply) -> list[Block]:
    """Return the card: what was asked, what was sent, and the way back; taken back, who did that."""
    link = f" · <{reply.permalink}|open thread>" if reply.permalink else ""
    asked = without_middle(escape_text(reply.question), QUESTION_CHARS)
    said = f":robot_face: *Sent automatically* in <#{reply.chat_id}>{link}\n{quote_block(asked)}"
    parts: list[Block] = [
        section(said, block_id=ids.audit_block_id(reply.id)),
        verbatim(truncate(reply_mrkdwn(reply.reply), AUDIT_CHARS)),
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
    return truncate(f"{done}: {' '.join(escape_text(reply.question).split())}", 300)


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
    said = "The asker sees that it was withdrawn. It counts as a false positive."
    confirm = confirmation("Take this reply back?", said, yes="Take back", no="Leave it")
    take_back = button("Take back", ids.TAKE_BACK, reply.id, style="danger", confirm=confirm)
    return actions(f"audit_actions:{reply.id}", take_back)


def reply_mrkdwn(draft: str) -> str:
    """Return a draft (Markdown) as it is posted, and as cards show it."""
    return to_mrkdwn(draft, keep_emoji=True)


def reply_messages(draft: str) -> list[list[Block]]:
    """Return the blocks of each message that a draft (Markdown) is posted as; no message for a blank one.

    Code blocks are closed in each section. Where ten messages hold no more, the last section says that it was cut.
    """
    sections = [verbatim(part) for part in _section_texts(draft)]
    messages: list[list[Block]] = []
    for one in sections:
        last = messages[-1] if messages else None
        if last is None or len(last) == MAX_SECTIONS or chars_of([*last, one]) > REPLY_CHARS:
            messages.append([one])
        else:
            last.append(one)
    if len(messages) > MAX_MESSAGES:
        return [*messages[: MAX_MESSAGES - 1], [section(CUT_NOTE)]]
    return messages


@lru_cache(maxsize=64)
def _section_texts(draft: str) -> tuple[str, ...]:
    """Return the text of each section; a card and a page ask several times whether a draft fits."""
    return tuple(split(reply_mrkdwn(draft), SECTION_CHARS))


def reply_sections(draft: str) -> list[Block]:
    """Return the sections of all messages of a reply, one below the other."""
    return list(chain.from_iterable(reply_messages(draft)))


def message_text(blocks: Sequence[Block]) -> str:
    """Return the text for notifications of a message of a reply."""
    texts = (block.text.text for block in blocks if isinstance(block, SectionBlock) and block.text)
    return truncate("\n".join(texts), NOTIFICATION_CHARS)


def marked(blocks: Sequence[Block], mark: str) -> list[Block]:
    """Return a reply's message with the block id by which it is found again on its first section."""
    first, *rest = blocks
    assert isinstance(first, SectionBlock)
    assert isinstance(first.text, MarkdownTextObject)
    return [SectionBlock(text=first.text, block_id=mark), *rest]


def preview_message(blocks: Sequence[Block], mark: str, *, number: int, count: int, version: int) -> list[Block]:
    """Return a message of a reply as it stands below its card before it is posted, its mark on the line above it."""
    of = f", message {number} of {count}" if count > 1 else ""
    said = f":page_facing_up: Draft {version}{of}, as it would be posted. Nothing is posted yet."
    head = context(said)
    head.block_id = mark
    return [head, *blocks]
