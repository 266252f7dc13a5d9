"""How a citation of a file is written, and where a quotation stands in some lines.

Pure. Lines are 1-based and inclusive. All patterns are linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_LINES: Final = 40
"""How many lines one citation may span: a longer one points at nothing in particular."""

BAD_RANGE: Final = "lines are counted from 1, and a range ends where it begins or below"

_LINES: Final = re.compile(r"(?P<path>[^\0\n]{1,1024}):(?P<start>[0-9]{1,9})(?:-(?P<end>[0-9]{1,9}))?")
_IN_CODEBASE: Final = re.compile(r"^([a-z][a-z0-9_-]{0,39}):(?=[^:\0\n]+:[0-9])")


class CitedLines(NamedTuple):
    """A file citation taken apart."""

    path: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.path}:{self.start}-{self.end}" if self.end > self.start else f"{self.path}:{self.start}"

    def problem(self) -> str | None:
        """Return why no file can have these lines, or None."""
        if self.path.startswith("/") or "\\" in self.path or not {"", ".", ".."}.isdisjoint(self.path.split("/")):
            return "the path must be relative to the top of the repository and stay inside it"
        if self.start < 1 or self.end < self.start:
            return BAD_RANGE
        return None


def parse_lines(ref: str) -> CitedLines | None:
    """Return `path:start-end` or `path:line` taken apart; None for any other form.

    >>> parse_lines("bot/app.py:3-9"), parse_lines("bot/app.py:7").end, parse_lines("bot/app.py")
    (CitedLines(path='bot/app.py', start=3, end=9), 7, None)
    """
    match = _LINES.fullmatch(ref)
    if match is None:
        return None
    return CitedLines(match["path"], int(match["start"]), int(match["end"] or match["start"]))


def shown_ref(ref: str) -> str:
    """Return a citation for people: its codebase, where it names one, stands apart from the path.

    >>> shown_ref("shop:src/x.py:3-9"), shown_ref("src/x.py:3-9")
    ('shop · src/x.py:3-9', 'src/x.py:3-9')
    """
    return _IN_CODEBASE.sub(r"\1 · ", ref, count=1)


def path_in_codebase(ref: str) -> str:
    """Return the path that a citation of a file names, without its codebase and its lines.

    >>> path_in_codebase("shop:src/x.py:3-9"), path_in_codebase("src/x.py:3")
    ('src/x.py', 'src/x.py')
    """
    return _IN_CODEBASE.sub("", ref, count=1).rpartition(":")[0]


def quoted_lines(quote: str, lines: Sequence[str]) -> range | None:
    r"""Return which of `lines`, counted from 0, the quotation is a contiguous part of; None if it is none.

    White space at line ends does not count, all other characters do.

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
