"""How a citation of a file is written, and what its lines show at a glance.

Pure. Lines are 1-based and inclusive. Also: where a quotation stands, the most telling line of it, and whether it calls
itself outdated. All patterns are linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.domain.search.tokens import question_stems, text_stems
from bot.domain.tables import Alternatives, read_table

MAX_LINES: Final = 40
"""How many lines one citation may span: a longer one points at nothing in particular."""

_LINES: Final = re.compile(r"(?P<path>[^\0\n]{1,1024}):(?P<start>[0-9]{1,9})(?:-(?P<end>[0-9]{1,9}))?")
_IN_CODEBASE: Final = re.compile(r"^([a-z][a-z0-9_-]{0,39}):(?=[^:\0\n]+:[0-9])")

LOOKED_AT_LINES: Final = 60
LOOKED_AT_CHARS: Final = 8_000
LINE_CHARS: Final = 400
"""Of a line that is compared; a longer one is data."""


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


class _OutdatedTable(NamedTuple):
    words: Alternatives
    unspaced: Alternatives
    folders: Alternatives


_TABLE: Final = read_table(__file__, "outdated.yml", _OutdatedTable)
_OUTDATED: Final = re.compile(rf"(?<![^\W_])(?:{_TABLE.words})(?![^\W_])|{_TABLE.unspaced}", re.IGNORECASE)
_OLD_PLACE: Final = re.compile(rf"(?:^|/)({_TABLE.folders})/", re.IGNORECASE)


def telling_line(quote: str, about: str) -> str:
    r"""Return the line of a quotation that holds most of the words of `about`, the first of those; "" for a blank one.

    >>> telling_line("[timeouts]\nconnect = 2\nread = 10", "What is the read timeout?")
    '[timeouts]'
    >>> telling_line("[timeouts]\nconnect = 2\nread = 10", "How long do we wait to connect?")
    'connect = 2'
    """
    lines = [line.strip() for line in quote[:LOOKED_AT_CHARS].split("\n")[:LOOKED_AT_LINES]]
    wanted = question_stems(about[:LOOKED_AT_CHARS])
    said = [line for line in lines if any(sign.isalnum() for sign in line)] or [line for line in lines if line]
    return max(said, key=lambda line: len(wanted & text_stems(line[:LINE_CHARS])), default="")


def outdated_words(quote: str, ref: str = "") -> str | None:
    """Return the words by which a quotation calls itself outdated, or the folder of old things it stands in.

    >>> outdated_words("TIMEOUT = 5  # no longer used"), outdated_words("x = 1", "src/legacy/a.py:1")
    ('no longer used', 'legacy/')
    >>> outdated_words("# TODO(ana): remove once v2 is out"), outdated_words("retries = 5")
    ('TODO(ana): remove', None)
    """
    found = _OUTDATED.search(quote[:LOOKED_AT_CHARS])
    if found is not None:
        return found[0]
    place = _OLD_PLACE.search(ref)
    return f"{place[1]}/" if place else None
