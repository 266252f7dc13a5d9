"""A reply as it is posted; the card shows the very same blocks."""

from __future__ import annotations

from slack_sdk.models.blocks import Block, MarkdownTextObject, SectionBlock

from blocks.text import SECTION_CHARS, TRUNCATED, split, to_mrkdwn, truncate

NOTIFICATION_CHARS = 3_000
MAX_SECTIONS = 25  # half of a message's blocks; the card needs some of the others
CUT_NOTE = f"_{TRUNCATED}: Slack shows no more of this in one message_"


def reply_sections(draft: str) -> list[Block]:
    """Return the draft (Markdown) as at most 25 sections, fences closed in each; the last says so if it was cut."""
    parts = split(to_mrkdwn(draft), SECTION_CHARS)
    if len(parts) > MAX_SECTIONS:
        parts = [*parts[: MAX_SECTIONS - 1], CUT_NOTE]
    return [SectionBlock(text=MarkdownTextObject(text=part)) for part in parts]


def reply_text(draft: str) -> str:
    """Return the reply's text for notifications; deterministic, so that a post of ours can be recognised by it."""
    return truncate(to_mrkdwn(draft), NOTIFICATION_CHARS)
