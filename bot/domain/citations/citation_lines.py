"""How a citation of a file is written, where a quotation stands, and where comments and strings do. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from bot.domain.tables import Parts, Words, fill, read_table

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


MAX_WIDENED: Final = 12
"""How many lines may be printed before and behind a citation because a comment or a string goes on there."""

_BLOCK_SCALAR: Final = re.compile(r"(?m)^( *+)(?:- +)*(?:[^\s#-][^#\n]{0,200}: +)?[|>][0-9+-]{0,2} *(?:#.*)?$")
_STRING_PREFIX: Final = re.compile(r"[ \t]*[rRbBuUfF]{0,2}")


class Span(NamedTuple):
    """Characters `start` to `end` (excluded) of a text: a comment, or else a string."""

    start: int
    end: int
    is_comment: bool


class _Syntax(NamedTuple):
    """How a kind of file comments and quotes: marks up to the line's end, pairs, and patterns of strings."""

    endings: Words = ()
    lines: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ()
    has_blocks: bool = False


class _Table(NamedTuple):
    parts: Parts
    syntaxes: dict[str, _Syntax]


@cache
def _table() -> _Table:
    return read_table(__file__, "comments.yml", _Table)


@cache
def _syntax_of() -> dict[str, _Syntax]:
    """Return the syntax of each ending of a file's name."""
    return {ending: syntax for syntax in _table().syntaxes.values() for ending in syntax.endings}


class Scan:
    """The comments and strings of a file; lines are counted from 1."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self._lines = lines
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        text = "\n".join(lines)
        self._spans = list(_spans(path, text))
        self._span_starts = [span.start for span in self._spans]
        blocks = sorted(self._find_blocks(path, text))
        self._block_at = {line: (first, last) for first, last in blocks for line in range(first, last + 1)}

    def widened(self, start: int, end: int) -> tuple[int, int]:
        r"""Return a range with the rest of the comment or string in which it begins or ends, MAX_WIDENED lines at most.

        >>> Scan("a.py", ["# Never", "# do this:", "x = 1"]).widened(2, 3)
        (1, 3)
        """
        first, last = self._block_at.get(start, (start, start))[0], self._block_at.get(end, (end, end))[1]
        above = min(start - first, MAX_WIDENED)
        return start - above, end + min(last - end, MAX_WIDENED - above)

    def is_comment(self, start: int, end: int) -> bool:
        """Whether all that a range says stands in comments."""
        said = [number for number in range(start, end + 1) if self._lines[number - 1].strip()]
        return bool(said) and all(map(self._is_comment_line, said))

    def is_comment_at(self, line: int, column: int) -> bool:
        """Whether a character stands in a comment; columns are counted from 0."""
        at = self._starts[line - 1] + column
        index = bisect_right(self._span_starts, at) - 1
        return index >= 0 and at < self._spans[index].end and self._spans[index].is_comment

    def _is_comment_line(self, line: int) -> bool:
        text = self._lines[line - 1]
        first, last = len(text) - len(text.lstrip()), len(text.rstrip()) - 1
        return self.is_comment_at(line, first) and self.is_comment_at(line, last)

    def _find_blocks(self, path: str, text: str) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of each comment and string of several lines."""
        below = (-1, -1)  # the comments at the ends of the lines above, as one block
        for span in self._spans:
            first, last = self._line_of(span.start), self._line_of(max(span.start, span.end - 1))
            if first < last:
                yield first, last
            elif span.is_comment and not text[self._starts[first - 1] : span.start].strip():
                if below[1] == first - 1:
                    below = (below[0], first)
                else:
                    yield below
                    below = (first, first)
        yield below
        if _syntax(path, text).has_blocks:
            yield from self._scalars(text)

    def _scalars(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the values of a YAML text that stand below their key: `|` and `>`."""
        last = 0
        for head in _BLOCK_SCALAR.finditer(text):
            first = self._line_of(head.start())
            if first <= last:
                continue
            last = first
            for number in range(first + 1, len(self._lines) + 1):
                line = self._lines[number - 1]
                if line.strip() and len(line) - len(line.lstrip(" ")) <= len(head[1]):
                    break
                last = number if line.strip() else last
            yield first, last

    def _line_of(self, place: int) -> int:
        return bisect_right(self._starts, place)


def _syntax(path: str, text: str) -> _Syntax:
    name = path.rpartition("/")[2].lower()
    other = _table().syntaxes["shell" if text.startswith("#!") else "any"]
    return _syntax_of().get(name.rpartition(".")[2], other)


def _spans(path: str, text: str) -> Iterator[Span]:
    """Yield the comments and strings of a text, in order; none overlaps another."""
    from bot.domain.search.files import is_prose  # here: most readers of citations scan no file

    if is_prose(path):
        return
    syntax = _syntax(path, text)
    openers, closers, at = _openers(syntax), dict(syntax.pairs), 0
    while found := openers.search(text, at):
        start, end = found.span()
        kind = found.lastgroup
        if kind == "line":
            end = _or_end(text.find("\n", start), text)
        elif kind == "pair":
            end = min(_or_end(text.find(closers[found[0]], end), text) + len(closers[found[0]]), len(text))
        yield Span(start, end, kind == "line" or (kind == "pair" and _is_comment(found, text)))
        at = max(end, start + 1)


def _is_comment(opener: re.Match[str], text: str) -> bool:
    """Whether a pair encloses a comment; a string that begins its line documents the code around it."""
    if opener[0][0] not in "\"'`":
        return True
    before = text[text.rfind("\n", 0, opener.start()) + 1 : opener.start()]
    return opener[0] != "`" and _STRING_PREFIX.fullmatch(before) is not None


@cache
def _openers(syntax: _Syntax) -> re.Pattern[str]:
    """Return the pattern of whatever opens a comment or a string."""
    groups = {
        "pair": [re.escape(opener) for opener, _ in syntax.pairs],
        "line": [fill(pattern, _table().parts) for pattern in syntax.lines],
        "string": [fill(pattern, _table().parts) for pattern in syntax.strings],
    }
    return re.compile("|".join(f"(?P<{name}>{'|'.join(parts)})" for name, parts in groups.items() if parts))


def _or_end(place: int, text: str) -> int:
    return place if place >= 0 else len(text)
