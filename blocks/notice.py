"""What somebody was told about their last click, on top of their App Home. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock

from blocks.parts import context, section
from blocks.text import SECTION_CHARS, escape, inert, split, truncate
from blocks.times import local_time

MAX_SECTIONS: Final = 3
"""Enough for what somebody typed into a dialogue and gets back."""
ABOUT_CHARS: Final = 120
_USER = re.compile(r"<@(\w+)>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """The answer to a click; `text` is plain but for mentions of users, which notify nobody on a page of one's own.

    `about` is the question that was decided on, as Slack delivered it; empty where there is none to name.
    """

    text: str
    at: datetime
    about: str = ""


def notice_blocks(notice: Notice | None) -> list[Block]:
    """Return the answer and when it was given."""
    if notice is None:
        return []
    said = escape(notice.text, known_users=_USER.findall(notice.text)).strip() or "Nothing happened."
    parts = split(f":speech_balloon: {said}", SECTION_CHARS)[:MAX_SECTIONS]
    asked = " ".join(inert(notice.about).replace("`", "'").split())
    about = f" · {truncate(asked, ABOUT_CHARS)}" if asked else ""
    when = context(f"your click {local_time(notice.at)}{about}")
    return [*map(section, parts), when, DividerBlock()]
