"""The parts of a playbook: what each line is in Markdown, its section, the entries in it, and what one may say. Pure.

As much of CommonMark as a playbook needs, with one deliberate difference: a comment or a code fence that is opened and
never closed hides nothing, so that a slip of the keyboard cannot silence the tasks below it. A section runs to the next
heading that names another, or to an unknown one that is not deeper. An entry is a list item with its sub-items,
continuation lines and code, or a paragraph. Source: CommonMark 0.31 §4.1-4.6, §5.2.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import cached_property
from itertools import takewhile
from sys import maxsize
from typing import Final

from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError

ITEM: Final = re.compile(r"(\s*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$|(?=\[[ xX]?\])))(?:\[([ xX]?)\](?=\s|$))?")
"""A list marker (group 1, with what is around it) and, if there is one, the mark in its box (group 2)."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s+(.*))?", re.DOTALL)
_UNDERLINE: Final = re.compile(r" {0,3}(?:={2,}|-{2,})\s*")
_RULE: Final = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_FENCE: Final = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_SHELL_FENCE: Final = re.compile(
    r"\s{0,99}(?:`{3,99}|~{3,99})[ \t]{0,99}(?:(?:ba|z)?sh|shell|console)\s{0,99}", re.IGNORECASE
)
_CLOSING_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})\s*")
_TAB_COLUMNS: Final = 4


PLACEHOLDER: Final = "(none)"
"""What stands in a list that holds nothing; no entry."""

_NOTHING: Final = frozenset(
    {
        *("none", "none right now", "none at the moment", "none at present", "none currently", "none yet", "nothing"),
        *("n/a", "-", "–", "—", "keine", "ninguno", "ninguna", "nenhum", "nenhuma", "aucun", "aucune", "tidak ada"),
        *("なし", "無し", "无", "無"),
    }
)
"""What people write in its place."""


_SUB_ITEM_COLUMNS: Final = 2
_NAMES: Final = re.compile(r"[\W\d_]*(timestamp|urgent|quick|hourly|daily|note)s?\b", re.IGNORECASE)
_URGENT: Final = re.compile(r"\s*(?:\[[ xX]?\])?[!\uff01]+(?!\[)\s*")
"""The mark before a task that is to page, also right behind its box; `![` begins a picture."""

MAX_TEXT_CHARS: Final = 300
_STRUCTURE: Final = re.compile(r"<!--|-->|```|~~~|^#{1,6}(?:\s|$)")


class LineKind(Enum):
    """What a line is; `FENCE` is the marker, `CODE` what stands between two, `UNDERLINE` makes a heading above it."""

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()
    RULE = auto()
    FENCE = auto()
    CODE = auto()
    COMMENT = auto()
    UNDERLINE = auto()


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """One line as it shows.

    `text` is what it says (a heading's title, an item without marker and box), `shown` the line without comments;
    `checked` is None where an item has no box; `level` counts a heading's `#`.
    """

    kind: LineKind
    text: str = ""
    shown: str = ""
    checked: bool | None = None
    level: int = 0
    starts_in_comment: bool = False

    @property
    def indent(self) -> int:
        """The column it starts in; a tab goes to the next multiple of four."""
        start = self.shown[: len(self.shown) - len(self.shown.lstrip())]
        return len(start.expandtabs(_TAB_COLUMNS))


def scan_lines(lines: Sequence[str]) -> tuple[MarkdownLine, ...]:
    """Return what each line is; the lines are without their ends.

    >>> [line.kind.name for line in scan_lines(["# Quick", "- [x] look", "```", "# no heading", "```", "<!-- - x -->"])]
    ['HEADING', 'ITEM', 'FENCE', 'CODE', 'FENCE', 'COMMENT']
    """
    closers, fences = _closers(lines), _Fences(lines)
    scanned: list[MarkdownLine] = []
    in_comment, fence_end = False, -1
    for number, line in enumerate(lines):
        if number <= fence_end:
            kind = LineKind.FENCE if number == fence_end else LineKind.CODE if line.strip() else LineKind.BLANK
            scanned.append(MarkdownLine(kind, "" if kind is LineKind.FENCE else line.strip(), line))
            continue
        shown, runs_on = _without_comments(line, in_comment, closers[number])
        scanned.append(_classified(shown, line, in_comment))
        in_comment = runs_on
        if _UNDERLINE.fullmatch(shown) and _is_underlined(scanned):
            title = scanned[-2]
            scanned[-2:] = [
                MarkdownLine(LineKind.HEADING, title.text, title.shown, level=1 if "=" in shown else 2),
                MarkdownLine(LineKind.UNDERLINE, "", shown),
            ]
        if not in_comment and (marker := _fence_marker(shown)):
            fence_end = fences.end_of(marker, number)
    return tuple(scanned)


def _is_underlined(scanned: Sequence[MarkdownLine]) -> bool:
    """Whether the line above the last one is a paragraph of its own that names a section.

    Other underlined lines open none, so that a remark above a rule does not end the tasks' section.
    """
    above, title = (
        [LineKind.BLANK, *(line.kind for line in scanned[-3:-2])][-1],
        scanned[-2] if len(scanned) > 1 else None,
    )
    return (
        title is not None
        and title.kind is LineKind.TEXT
        and above not in (LineKind.TEXT, LineKind.ITEM)
        and _section_of(title.text) is not None
    )


def _classified(shown: str, line: str, in_comment: bool) -> MarkdownLine:
    if not shown.strip():
        return MarkdownLine(
            LineKind.COMMENT if line.strip() else LineKind.BLANK, "", shown, starts_in_comment=in_comment
        )
    if heading := _HEADING.fullmatch(shown):
        title = (heading[2] or "").strip().rstrip("#").strip()
        return MarkdownLine(LineKind.HEADING, title, shown, level=len(heading[1]), starts_in_comment=in_comment)
    if _RULE.fullmatch(shown):
        return MarkdownLine(LineKind.RULE, "", shown, starts_in_comment=in_comment)
    if item := ITEM.match(shown):
        text = "" if _fence_marker(shown) else shown[item.end() :].strip()
        checked = None if item[2] is None else item[2] in ("x", "X")
        return MarkdownLine(LineKind.ITEM, text, shown, checked, starts_in_comment=in_comment)
    if _FENCE.match(shown):
        return MarkdownLine(LineKind.FENCE, "", shown, starts_in_comment=in_comment)
    return MarkdownLine(LineKind.TEXT, shown.strip(), shown, starts_in_comment=in_comment)


def _fence_marker(shown: str) -> str:
    """Return the backticks or tildes that open a fence on this line, after a list marker too, or nothing."""
    item = ITEM.match(shown)
    fence = _FENCE.match(shown, item.end() if item else 0)
    return fence[1] if fence else ""


class _Fences:
    """The lines that may close a fence: nothing on them but a marker."""

    def __init__(self, lines: Sequence[str]) -> None:
        markers = ((number, _CLOSING_FENCE.fullmatch(line)) for number, line in enumerate(lines))
        self._closing = [(number, marker[1]) for number, marker in markers if marker]
        self._never_closed = {"`": maxsize, "~": maxsize}

    def end_of(self, marker: str, start: int) -> int:
        """Return the line that closes a fence: same character, at least as many of it; -1 if it is never closed."""
        if len(marker) >= self._never_closed[marker[0]]:
            return -1  # a shorter one above found nothing to close it, so no search is repeated
        below = range(bisect_right(self._closing, start, key=lambda fence: fence[0]), len(self._closing))
        end = next((self._closing[at][0] for at in below if self._closing[at][1].startswith(marker)), -1)
        if end < 0:
            self._never_closed[marker[0]] = len(marker)
        return end


def _closers(lines: Sequence[str]) -> list[tuple[bool, bool]]:
    """Return for each line whether a comment left open on it is closed below: anywhere, and in the same paragraph."""
    closers = [(False, False)] * len(lines)
    for number in range(len(lines) - 2, -1, -1):
        below, (anywhere, in_paragraph) = lines[number + 1], closers[number + 1]
        ends = "-->" in below
        breaks = not below.strip() or bool(ITEM.match(below) or _HEADING.fullmatch(below))
        closers[number] = (ends or anywhere, not breaks and (ends or in_paragraph))
    return closers


def _without_comments(line: str, inside: bool, closed_below: tuple[bool, bool]) -> tuple[str, bool]:
    """Return the line without its comments, and whether one runs on; `<!--` between backticks is text."""
    shown: list[str] = []
    at, searched, ticks, says_something = 0, 0, 0, False
    last_end = line.rfind("-->")
    while True:
        if inside:
            if last_end < at:
                return "".join(shown), True
            at = searched = line.index("-->", at) + len("-->")
        start = line.find("<!--", searched)
        if start < 0:
            return "".join([*shown, line[at:]]), False
        ticks += line.count("`", searched, start)
        searched = start + len("<!--")
        says_something = says_something or bool(line[at:start].strip())
        inside = ticks % 2 == 0 and (last_end >= searched or closed_below[says_something])
        if inside:
            shown.append(line[at:start])
            at = searched
        says_something = says_something or not inside


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


@dataclass(frozen=True)
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
    def is_table_of_commands(self) -> bool:
        """Whether it is a table that names commands: a task beside a list, too, where prose is none."""
        return self.text.startswith("|") and any("`" in line for line in (self.text, *self.details))

    @cached_property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands it names, in order."""
        from bot.domain.heartbeats.allowed_commands import commands_in

        return tuple(commands_in([self.text, *self.details]))

    @cached_property
    def id(self) -> str:
        """The id its receipts carry: of its first command, so that a new title makes no new task, else of its text.

        Flags and notes go by their text.
        """
        if self.commands and self.section not in (PlaybookSection.FLAGS, PlaybookSection.NOTES):
            return task_id(" ".join(self.commands[0]))
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


def _section_of(title: str) -> PlaybookSection | None:
    """Return the section a heading opens, by its first word; marks and emoji before it do not count.

    >>> _section_of("QUICK tasks (every heartbeat)"), _section_of("⚡ Daily"), _section_of("Quickstart")
    (<PlaybookSection.QUICK: 'quick'>, <PlaybookSection.DAILY: 'daily'>, None)
    """
    name = _NAMES.match(title)
    return None if name is None else _SECTIONS.get(name[1].lower()) or PlaybookSection(name[1].lower())


def sections(lines: Sequence[MarkdownLine]) -> tuple[PlaybookSection, ...]:
    """Return for each line the section it is in; a heading is in the one it opens."""
    found, current, level = [], PlaybookSection.OTHER, 0
    for line in lines:
        if line.kind is LineKind.HEADING:
            named = _section_of(line.text)
            if named or line.level <= level:
                current, level = named or PlaybookSection.OTHER, line.level
        found.append(current)
    return tuple(found)


def entries(lines: Sequence[MarkdownLine]) -> tuple[PlaybookEntry, ...]:
    """Return every entry that says something, in order; placeholders and empty items are none."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for number, line in enumerate(lines):
        if line.kind in (LineKind.HEADING, LineKind.RULE, LineKind.UNDERLINE):
            is_open = False
        elif is_open and _continues(lines, spans[-1], number):
            spans[-1] = (spans[-1][0], number + 1)
        elif line.kind not in (LineKind.BLANK, LineKind.COMMENT):
            spans.append((number, number + 1))
            is_open = True
    where = sections(lines)
    found = (_entry(lines, where[start], start, end) for start, end in spans)
    return tuple(entry for entry in found if entry.text and (entry.details or not is_placeholder(entry.text)))


def is_placeholder(text: str) -> bool:
    """Whether a line says that there is nothing, in the words of a template or of a person.

    >>> is_placeholder("(none)"), is_placeholder("*None.*"), is_placeholder("None of the shops answers")
    (True, True, False)
    """
    return text.casefold().strip("()（）_*.。 ") in _NOTHING


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
    rest = textwrap.dedent("\n".join(line for line in _details(lines[first + 1 : end]) if line.strip()))
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


def _details(lines: Sequence[MarkdownLine]) -> Iterator[str]:
    """Yield lines as they are shown; a shell's command in a code block stands in backticks, as one in a text does."""
    is_shell = is_session = False
    for number, line in enumerate(lines):
        if line.kind is LineKind.FENCE:
            is_shell = _SHELL_FENCE.fullmatch(line.shown) is not None
            code = takewhile(lambda each: each.kind is not LineKind.FENCE, lines[number + 1 :])
            is_session = any(each.text.startswith("$ ") for each in code)
        is_command = line.kind is LineKind.CODE and (line.text.startswith("$ ") or (is_shell and not is_session))
        indent = line.shown[: len(line.shown) - len(line.shown.lstrip())]
        yield f"{indent}`{line.text}`" if is_command and "`" not in line.text else line.shown.rstrip()


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
