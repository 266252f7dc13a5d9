"""What somebody was told about their last click, on top of their App Home. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block, ContextBlock, DividerBlock, MarkdownTextObject, SectionBlock

from blocks.text import SECTION_CHARS, escape, split

MAX_SECTIONS: Final = 3
"""Enough for what somebody typed into a dialogue and gets back."""
_USER = re.compile(r"<@(\w+)>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """The answer to a click; `text` is plain but for mentions of users, which notify nobody on a page of one's own."""

    text: str
    at: datetime


def notice_blocks(notice: Notice | None) -> list[Block]:
    """Return the answer and when it was given."""
    if notice is None:
        return []
    said = escape(notice.text, known_users=_USER.findall(notice.text)).strip() or "Nothing happened."
    parts = split(f":speech_balloon: {said}", SECTION_CHARS)[:MAX_SECTIONS]
    when = ContextBlock(elements=[MarkdownTextObject(text=f"your click at {notice.at:%H:%M:%S} UTC")])
    return [*(SectionBlock(text=MarkdownTextObject(text=part)) for part in parts), when, DividerBlock()]
