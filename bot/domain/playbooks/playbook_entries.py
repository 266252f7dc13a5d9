"""The parts of a playbook: its sections, the entries (tasks, flags, notes) in them, and what one may say. Pure.

A section runs from a heading that names it to the next one that names another, or to an unknown heading that is not
deeper. An entry is a list item with its sub-items, continuation lines and code, or a paragraph of plain text.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.playbooks.markdown_lines import ITEM, LineKind, MarkdownLine
from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError

PLACEHOLDER: Final = "(none)"
"""What stands in a list that holds nothing; no entry."""

_SUB_ITEM_COLUMNS: Final = 2


_NAMES: Final = re.compile(r"[\W\d_]*(timestamp|urgent|quick|hourly|daily|note)s?\b", re.IGNORECASE)
_URGENT: Final = re.compile(r"\s*!+(?!\[)\s*")
"""The mark before a task that is to page; `![` begins a picture."""
MAX_TEXT_CHARS: Final = 300
_STRUCTURE: Final = re.compile(r"<!--|-->|```|~~~|^#{1,6}(?:\s|$)")


class PlaybookSection(StrEnum):
    """What a heading's section is for; those of the tiers are called as the tiers are."""

    TIMESTAMPS = "timestamps"
    FLAGS = "urgent"
    QUICK = "quick"
    HOURLY = "hourly"
    DAILY = "daily"
    NOTES = "notes"
    OTHER = "other"


_SECTIONS: Final = {
    "timestamp": PlaybookSection.TIMESTAMPS,
    "urgent": PlaybookSection.FLAGS,
    "note": PlaybookSection.NOTES,
}


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """One task, flag or note.

    `text` is its first line that says something, `details` the lines after it; it fills the playbook's lines `start`
    (0-based) up to, not including, `end`. `checked` is None where it has no box.
    """

    section: PlaybookSection
    text: str
    checked: bool | None
    start: int
    end: int
    indent: int = 0
    details: tuple[str, ...] = ()
    is_item: bool = True

    @property
    def line_number(self) -> int:
        """Where it stands, as an editor counts lines."""
        return self.start + 1

    @property
    def id(self) -> str:
        """The id its receipts carry; it depends on the text alone."""
        return task_id(self.text)


def is_marked_urgent(text: str) -> bool:
    """Whether a task or flag begins with `!`: what it finds pages.

    >>> is_marked_urgent("! Checkout answers"), is_marked_urgent("Checkout answers!"), is_marked_urgent("![x](y)")
    (True, False, False)
    """
    return _URGENT.match(text) is not None


def unmarked(text: str) -> str:
    """Return a task's text without the mark `!`.

    >>> unmarked("! Checkout answers"), unmarked("!"), unmarked("CI")
    ('Checkout answers', '!', 'CI')
    """
    return (_URGENT.sub("", text, count=1) or text) if is_marked_urgent(text) else text


def task_id(text: str) -> str:
    """Return a short id of a task's text; case, spacing and the mark `!` make no difference.

    >>> task_id("Open PRs and their CI") == task_id(" open PRs  and their ci"), len(task_id("x"))
    (True, 8)
    """
    return hashlib.sha256(" ".join(unmarked(text).casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def section_of(title: str) -> PlaybookSection | None:
    """Return the section a heading opens, by its first word; marks and emoji before it do not count.

    >>> section_of("QUICK tasks (every heartbeat)"), section_of("⚡ Daily"), section_of("Quickstart")
    (<PlaybookSection.QUICK: 'quick'>, <PlaybookSection.DAILY: 'daily'>, None)
    """
    name = _NAMES.match(title)
    return None if name is None else _SECTIONS.get(name[1].lower()) or PlaybookSection(name[1].lower())


def sections(lines: Sequence[MarkdownLine]) -> tuple[PlaybookSection, ...]:
    """Return for each line the section it is in; a heading is in the one it opens."""
    found, current, level = [], PlaybookSection.OTHER, 0
    for line in lines:
        if line.kind is LineKind.HEADING:
            named = section_of(line.text)
            if named or line.level <= level:
                current, level = named or PlaybookSection.OTHER, line.level
        found.append(current)
    return tuple(found)


def entries(lines: Sequence[MarkdownLine]) -> tuple[PlaybookEntry, ...]:
    """Return every entry that says something, in order; placeholders and empty items are none."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for number, line in enumerate(lines):
        if line.kind in (LineKind.HEADING, LineKind.RULE):
            is_open = False
        elif is_open and _continues(lines, spans[-1], number):
            spans[-1] = (spans[-1][0], number + 1)
        elif line.kind not in (LineKind.BLANK, LineKind.COMMENT):
            spans.append((number, number + 1))
            is_open = True
    where = sections(lines)
    found = (_entry(lines, where[start], start, end) for start, end in spans)
    return tuple(entry for entry in found if entry.text and (entry.details or entry.text.casefold() != PLACEHOLDER))


def _continues(lines: Sequence[MarkdownLine], span: tuple[int, int], number: int) -> bool:
    """Whether a line belongs to the entry above it: indented under it, code, or text with no blank line between."""
    line, first = lines[number], lines[span[0]]
    if line.kind in (LineKind.BLANK, LineKind.COMMENT):
        return line.starts_in_comment and span[1] == number
    if line.kind in (LineKind.FENCE, LineKind.CODE):
        return True
    if first.kind is LineKind.ITEM and line.indent >= first.indent + _SUB_ITEM_COLUMNS:
        return True
    return line.kind is LineKind.TEXT and all(between.kind is not LineKind.BLANK for between in lines[span[1] : number])


def _entry(lines: Sequence[MarkdownLine], section: PlaybookSection, start: int, end: int) -> PlaybookEntry:
    first = next((number for number in range(start, end) if lines[number].text), start)
    rest = textwrap.dedent("\n".join(line.shown.rstrip() for line in lines[first + 1 : end] if line.shown.strip()))
    return PlaybookEntry(
        section=section,
        text=lines[first].text,
        checked=lines[start].checked,
        start=start,
        end=end,
        indent=lines[start].indent,
        details=tuple(rest.split("\n")) if rest else (),
        is_item=lines[start].kind is LineKind.ITEM,
    )


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
    if len(said.splitlines()) > 1 or strip_hidden(said)[1]:
        raise InputError("Write one line, without control or hidden characters.")
    if _STRUCTURE.search(said) or said.casefold() == PLACEHOLDER:
        raise InputError("Write plain text: no heading, code fence or HTML comment, and not just (none).")
    return said
