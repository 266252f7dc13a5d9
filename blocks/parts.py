"""The two blocks that nearly every view is made of: a section of mrkdwn, and a line of small print.

Source of the limit: https://docs.slack.dev/reference/block-kit/composition-objects/text-object
"""

from __future__ import annotations

from slack_sdk.models.blocks import ContextBlock, MarkdownTextObject, SectionBlock

from blocks.text import SECTION_CHARS, truncate
from blocks.times import with_local_times


def section(text: str, *, block_id: str | None = None) -> SectionBlock:
    """Return a section of mrkdwn; what is too long for one is cut, and says so. Its times are the reader's."""
    return SectionBlock(text=MarkdownTextObject(text=in_local_time(text)), block_id=block_id)


def verbatim(text: str) -> SectionBlock:
    """Return a section of mrkdwn whose every word, times included, is somebody's and stays as it is."""
    return SectionBlock(text=MarkdownTextObject(text=truncate(text, SECTION_CHARS)))


def context(text: str) -> ContextBlock:
    """Return small print, cut as a section is. Its times are the reader's."""
    return ContextBlock(elements=[MarkdownTextObject(text=in_local_time(text))])


def in_local_time(text: str, limit: int = SECTION_CHARS) -> str:
    """Return mrkdwn of at most `limit` characters with the reader's times; in UTC where there is no room for those."""
    cut = truncate(text, limit)
    shown = with_local_times(cut)
    return shown if len(shown) <= limit else cut
