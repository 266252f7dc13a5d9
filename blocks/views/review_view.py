"""The review of the week: `/triage review`, and the direct message to the team's lead. Pure."""

from __future__ import annotations

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import SECTION_CHARS, context, escape, escape_text, section, truncate
from bot.casework.reports.classifier_samples import error_words
from bot.casework.reports.weekly_review import ReviewLine, ReviewPart, WeeklyReview

NEXT = "Next: `triage review` and `triage metrics --weeks` at the terminal, `/triage autonomy`"


def review_line(review: WeeklyReview) -> str:
    """Return the review for notifications, which quotes nobody."""
    return f"The week to {review.window.end:%a} {review.window.end.day} {review.window.end:%b}: {review.summary}"


def review_blocks(review: WeeklyReview, *, may_see_drafts: bool, mark: str | None = None) -> list[Block]:
    """Return the review; who may not approve sees counts only. `mark` is the id of the first block."""
    title = f"*The week to {review.window.end:%a} {review.window.end.day} {review.window.end:%b}*"
    parts: list[Block] = [section(f"{title}\n{escape(review.summary)}", block_id=mark)]
    if may_see_drafts:
        parts += [section(_part(part)) for part in review.parts]
    elif review.parts:
        counts = " · ".join(f"{part.title}: {part.count:,}" for part in review.parts)
        parts.append(section(f"{counts}\nOnly approvers can see which: `/triage approve-list`"))
    if not review.parts:
        parts.append(section("Nothing to do."))
    notes = [
        f"Misclassified messages: {error_words(review.errors[0])}. To judge some: `triage metrics --sample 20 --judge`"
    ]
    notes += [escape(review.uncounted)] if review.uncounted else []
    notes += [f"{review.unread:,} closed threads were not read"] if review.unread else []
    return fit_message([*parts, context("\n".join([*notes, NEXT]))])


def _part(part: ReviewPart) -> str:
    lines = [f"• {_place(line)} · {_quoted(line.text)}" for line in part.lines]
    left = part.count - len(part.lines)
    more = [f"… and {left:,} more"] if left > 0 else []
    return truncate(
        "\n".join([f"*{part.title}: {part.count:,}*", f"→ {escape_text(part.todo)}", *lines, *more]), SECTION_CHARS
    )


def _place(line: ReviewLine) -> str:
    is_address = line.link.startswith("https://")
    return f"<{escape(line.link)}|thread>" if is_address else f"`{_quoted(line.link)}`"


def _quoted(text: str) -> str:
    """Return words of others on one line; a code fence in them would swallow the lines below."""
    return " ".join(escape_text(text).replace("`", "'").split())
