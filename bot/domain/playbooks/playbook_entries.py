"""The entries of a playbook and their ids, and what one may say. Pure; linear in the text.

An entry is a list item with its sub-items, continuation lines and code, a table's row that names a command, or a
paragraph. Items and rows are tasks; a paragraph is none, nor is an item that is only a link.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.playbooks.playbook_lines import ITEM, LineKind, MarkdownLine, PlaybookSection
from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError

PLACEHOLDER: Final = "(none)"
"""What stands in a list that holds nothing; no entry, whatever follows it on its line."""

MAX_TEXT_CHARS: Final = 300

_SUB_ITEM_COLUMNS: Final = 2
_URGENT: Final = re.compile(r"\s*(?:\[[ xX]?\])?[!\uff01]+(?!\[)\s*")
"""The mark before a task that is to page, also right behind its box; `![` begins a picture."""

_LINK: Final = re.compile(r"!?\[[^\[\]]*\]\([^()]*\)|<?https?://[^\s<>]+>?")
_MARKUP: Final = " *_=`~-–—.…"
"""Signs that say nothing by themselves."""

_STRUCTURE: Final = re.compile(r"<!--|-->|```|~~~|^#{1,6}(?:\s|$)")


@dataclass(frozen=True)
class PlaybookEntry:
    """One task, flag, note or paragraph.

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
    kind: LineKind = LineKind.ITEM

    @property
    def is_item(self) -> bool:
        """Whether it is a list item."""
        return self.kind is LineKind.ITEM

    @property
    def is_task(self) -> bool:
        """Whether it is a task where its section holds tasks: an item or a row, and more than a link."""
        return self.kind is not LineKind.TEXT and bool(not _is_link(self.text) or self.details or self.commands)

    @cached_property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands it names, in order."""
        return tuple(commands_in([self.text, *self.details]))

    @cached_property
    def id(self) -> str:
        """The id its receipts carry: of its first command, so that a new title makes no new task, else of its text.

        Flags and notes go by their text.
        """
        if self.commands and self.section not in (PlaybookSection.FLAGS, PlaybookSection.NOTES):
            return task_id(" ".join(self.commands[0]))
        return task_id(self.text)

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids of its checks, its own first: each command is one, and so is a task that names none."""
        return tuple(task_id(" ".join(argv)) for argv in self.commands) or (self.id,)


def checks_of(text: str) -> tuple[str, ...]:
    """Return the ids of the checks that a task with this one line makes.

    A finding belongs to a check by its id, so it outlives a new title, another order and a move to another tier.

    >>> checks_of("Tree: `git status`") == checks_of("Is it clean? `git status`") == (task_id("git status"),)
    True
    """
    return PlaybookEntry(PlaybookSection.QUICK, text, None, 0, 1).checks


def id_of_task(text: str) -> str:
    """Return the id a task with this one line has.

    >>> id_of_task("Tree: `git status`") == id_of_task("Clean? `git status`") == task_id("git status")
    True
    """
    return PlaybookEntry(PlaybookSection.QUICK, text, None, 0, 1).id


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
    return _URGENT.sub("", text, count=1) or text if is_marked_urgent(text) else text


def task_id(text: str) -> str:
    """Return a short id of a command or a task's text; case, spacing and the mark `!` make no difference.

    >>> task_id("Open PRs and their CI") == task_id(" open PRs  and their ci"), len(task_id("x"))
    (True, 8)
    """
    return hashlib.sha256(" ".join(unmarked(text).casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def is_placeholder(text: str) -> bool:
    """Whether a line says that a list holds nothing.

    >>> is_placeholder("(none)"), is_placeholder("*(None right now)*"), is_placeholder("None of the shops answers")
    (True, True, False)
    """
    return text.lstrip("*_ ")[: len(PLACEHOLDER) - 1].casefold() == PLACEHOLDER[:-1]


def entries(lines: Sequence[MarkdownLine], where: Sequence[PlaybookSection]) -> tuple[PlaybookEntry, ...]:
    """Return every entry that says something, in order, placeholders included; `where` is the section of each line."""
    spans: list[tuple[int, int]] = []
    is_open = has_gap = False
    for number, line in enumerate(lines):
        if line.kind in (LineKind.HEADING, LineKind.RULE):
            is_open = False
        elif line.kind is LineKind.BLANK:
            has_gap = True
        elif is_open and _continues(lines[spans[-1][0]], line, has_gap=has_gap):
            spans[-1], has_gap = (spans[-1][0], number + 1), False
        else:
            is_open, has_gap = line.kind is not LineKind.CODE, False
            spans += [(number, number + 1)] if is_open else []
    found = (_entry(lines[start:end], where[start], start) for start, end in spans)
    return tuple(entry for entry in found if entry.text)


def _continues(first: MarkdownLine, line: MarkdownLine, *, has_gap: bool) -> bool:
    """Whether a line belongs to the entry above it: indented under it, code, or text with no blank line between."""
    if line.kind is LineKind.CODE:
        return True
    if first.kind is LineKind.ITEM and line.indent >= first.indent + _SUB_ITEM_COLUMNS:
        return True
    return line.kind is LineKind.TEXT and first.kind is not LineKind.ROW and not has_gap


def _entry(lines: Sequence[MarkdownLine], section: PlaybookSection, start: int) -> PlaybookEntry:
    head = next((number for number, line in enumerate(lines) if line.text.strip(_MARKUP)), 0)
    rest = textwrap.dedent("\n".join(line.shown.rstrip() for line in lines[head + 1 :] if line.shown.strip()))
    return PlaybookEntry(
        section=section,
        text=lines[head].text if lines[head].text.strip(_MARKUP) else "",
        checked=lines[0].checked,
        start=start,
        end=start + len(lines),
        indent=lines[0].indent,
        details=tuple(rest.split("\n")) if rest else (),
        kind=lines[0].kind,
    )


def _is_link(text: str) -> bool:
    """Whether a text is nothing but links or pictures, one in the other included."""
    bare = _LINK.sub("", _LINK.sub("", text)) if "](" in text or "://" in text else text
    return bare != text and not any(map(str.isalnum, bare))


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
    if _STRUCTURE.search(said) or is_placeholder(said):
        raise InputError("Write plain text: no heading, code fence or HTML comment, and not just (none).")
    return said
