"""What each line of a Markdown file is: heading, list item, text, code, comment or nothing. Pure, in linear time.

As much of CommonMark as a playbook needs, with one deliberate difference: a comment or a code fence that is opened and
never closed hides nothing, so that a slip of the keyboard cannot silence the tasks below it.
Source: CommonMark 0.31 §4.1-4.6, §5.2.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from sys import maxsize
from typing import Final

ITEM: Final = re.compile(r"(\s*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$|(?=\[[ xX]?\])))(?:\[([ xX]?)\](?=\s|$))?")
"""A list marker (group 1, with what is around it) and, if there is one, the mark in its box (group 2)."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s+(.*))?", re.DOTALL)
_RULE: Final = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_FENCE: Final = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})\s*")
_TAB_COLUMNS: Final = 4


class LineKind(Enum):
    """What a line is; `FENCE` is the marker, `CODE` what stands between two."""

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()
    RULE = auto()
    FENCE = auto()
    CODE = auto()
    COMMENT = auto()


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
        if not in_comment and (marker := _fence_marker(shown)):
            fence_end = fences.end_of(marker, number)
    return tuple(scanned)


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
