"""What an entry of a playbook may say: one line of plain text that forges no structure. Pure."""

from __future__ import annotations

import re
from typing import Final

from bot.domain.hidden import without_hidden
from bot.domain.markdown_lines import ITEM
from bot.domain.playbook_entries import PLACEHOLDER
from bot.errors import InputError

MAX_TEXT_CHARS: Final = 300
_STRUCTURE: Final = re.compile(r"<!--|-->|```|~~~|^#{1,6}(?:\s|$)")


def plain_text(text: str) -> str:
    """Return what an entry may say: one line that cannot be taken for a heading, a fence, a comment or a list.

    Raises:
        InputError: it is empty, too long, or holds line ends, hidden characters or Markdown structure.

    >>> plain_text(" - [ ] Look at `git status` ")
    'Look at `git status`'
    """
    said = text.strip()
    said = said[item.end() :] if (item := ITEM.match(said)) else said
    said = said[item.end() - 2 :].strip() if (item := ITEM.match(f"- {said}")) else said
    if not said or len(said) > MAX_TEXT_CHARS:
        raise InputError(f"Write between 1 and {MAX_TEXT_CHARS} characters; these are {len(said)}.")
    if len(said.splitlines()) > 1 or without_hidden(said)[1]:
        raise InputError("Write one line, without control or hidden characters.")
    if _STRUCTURE.search(said) or said.casefold() == PLACEHOLDER:
        raise InputError("Write plain text: no heading, code fence or HTML comment, and not just (none).")
    return said
