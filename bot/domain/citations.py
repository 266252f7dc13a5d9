"""How a citation of a file is written, and when a quotation counts as verbatim.

Pure. Lines are 1-based and inclusive. White space at line ends does not count, all other characters do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_LINES: Final = 40
"""How many lines one citation may span: a longer one points at nothing in particular."""

_LINES: Final = re.compile(r"(?P<path>[^\0\n]+):(?P<start>[0-9]{1,9})(?:-(?P<end>[0-9]{1,9}))?")


class CitedLines(NamedTuple):
    """A file citation taken apart."""

    path: str
    start: int
    end: int

    def problem(self) -> str | None:
        """Return why no file can have these lines, or None."""
        if self.path.startswith("/") or "\\" in self.path or not {"", ".", ".."}.isdisjoint(self.path.split("/")):
            return "the path must be relative to the top of the repository and stay inside it"
        if self.start < 1:
            return "lines are counted from 1"
        return "the range ends before it starts" if self.end < self.start else None

    def is_too_long(self) -> bool:
        """Whether the range spans more than MAX_LINES."""
        return self.end - self.start >= MAX_LINES


def parse_lines(ref: str) -> CitedLines | None:
    """Return `path:start-end` or `path:line` taken apart; None for any other form.

    >>> parse_lines("bot/app.py:3-9"), parse_lines("bot/app.py:7").end, parse_lines("bot/app.py")
    (CitedLines(path='bot/app.py', start=3, end=9), 7, None)
    """
    match = _LINES.fullmatch(ref)
    if match is None:
        return None
    return CitedLines(match["path"], int(match["start"]), int(match["end"] or match["start"]))


def stands_in(quote: str, lines: Sequence[str]) -> bool:
    r"""Whether `quote` is a contiguous part of `lines`, white space at line ends aside.

    >>> stands_in("b = 2  \nc", ["a = 1", "b = 2", "c = 3"]), stands_in("a = 1\nc", ["a = 1", "b = 2", "c = 3"])
    (True, False)
    """
    return _trim(quote.split("\n")) in _trim(lines)


def quoted_lines(quote: str, lines: Sequence[str]) -> range | None:
    r"""Return which of `lines`, counted from 0, the quotation stands in, as `stands_in` compares; None if in none.

    >>> quoted_lines("b = 2\nc", ["", "a = 1", "b = 2", "c = 3"]), quoted_lines("d", ["a = 1"]), quoted_lines(" ", [""])
    (range(2, 4), None, None)
    """
    wanted = _trim(quote.split("\n"))
    text = "\n".join(line.rstrip() for line in lines)
    at = text.find(wanted) if wanted.strip() else -1
    first = text.count("\n", 0, max(at, 0))
    return range(first, first + wanted.count("\n") + 1) if at >= 0 else None


def _trim(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")
