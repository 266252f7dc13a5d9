"""The two blocks that nearly every view is made of: a section of mrkdwn, and a line of small print.

Source of the limit: https://docs.slack.dev/reference/block-kit/composition-objects/text-object
"""

from __future__ import annotations

from slack_sdk.models.blocks import ContextBlock, MarkdownTextObject, SectionBlock

from blocks.text import SECTION_CHARS, truncate


def section(text: str, *, block_id: str | None = None) -> SectionBlock:
    """Return a section of mrkdwn; what is too long for one is cut, and says so."""
    return SectionBlock(text=MarkdownTextObject(text=truncate(text, SECTION_CHARS)), block_id=block_id)


def context(text: str) -> ContextBlock:
    """Return small print, cut as a section is."""
    return ContextBlock(elements=[MarkdownTextObject(text=truncate(text, SECTION_CHARS))])
