"""A reply as it is posted; the card shows the very same blocks."""

from __future__ import annotations

from slack_sdk.models.blocks import Block, MarkdownTextObject, SectionBlock

from blocks.text import SECTION_CHARS, split, to_mrkdwn, truncate

NOTIFICATION_CHARS = 3_000


def reply_sections(draft: str) -> list[Block]:
    """Return the draft (Markdown) as sections within Slack's limits, fences closed in each."""
    return [SectionBlock(text=MarkdownTextObject(text=part)) for part in split(to_mrkdwn(draft), SECTION_CHARS)]


def reply_text(draft: str) -> str:
    """Return the reply's text for notifications; deterministic, so that a post of ours can be recognised by it."""
    return truncate(to_mrkdwn(draft), NOTIFICATION_CHARS)
