"""Lines of files worth quoting: cut out of a passage or of a definition, widened until they keep their sense.

Pure. Every excerpt is verbatim, may stand in a reply, and would pass the check of quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.casework.investigate.trace_places import TracePlace
from bot.domain.citations.prose_spans import Spans
from bot.domain.citations.verbatim_quotes import flaw_of
from bot.domain.search.definitions import Definition, definition_end
from bot.domain.search.passages import Passage, best_lines, first_attached, is_quotable
from bot.domain.search.tokens import shared_stems, text_stems

MAX_LINE_CHARS = 1_000  # a longer line is data or made by a machine; half of it would be no verbatim line
MAX_ATTACHED = 8
"""How many lines of comments and decorators above a definition are quoted with it."""
SIZES = (12, 6, 3, 1)  # lines of an excerpt; only the best passage may have the most
MAX_SIGNATURE = 12
"""Lines of a definition's head, up to the bracket that closes it, that are quoted beside the usual ones."""
MIN_SHARED = 2
"""Telling words that a question of three or more shares with a passage, or nothing answers it."""
_WIDENINGS = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3), (6, 6))  # lines before and behind an excerpt
_UNQUOTABLE = "```"  # stands for a line that no excerpt may hold


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file at one commit, verbatim, and how many of the question's words their passage holds.

    `defines` is the name that the lines define, `frame` the place of a stack frame, where they were chosen for it.
    """

    path: str
    start: int
    end: int
    commit: str
    text: str
    covered: int
    defines: str = ""
    frame: str = ""

    @property
    def ref(self) -> str:
        """The citation of these lines."""
        return f"{self.path}:{self.start}-{self.end}"

    def overlaps(self, other: Excerpt) -> bool:
        """Whether both quote a line."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end

    def is_about(self, asked: int) -> bool:
        """Whether it answers more than one of the `asked` words of a question; one shared word of many is chance."""
        return bool(self.defines or self.frame) or self.covered >= MIN_SHARED or self.covered * 2 >= asked

    def answers_rest_of(self, stems: frozenset[str]) -> bool:
        """Whether it holds half of what a question says besides the name of what these lines define."""
        rest = stems - text_stems(f"{self.path} {self.defines}")
        return 2 * len(shared_stems(rest, self.text)) >= len(rest)


def excerpts_of_passage(
    passage: Passage, lines: Sequence[str], spans: Spans, *, stems: frozenset[str], named: Sequence[Definition]
) -> Iterator[Excerpt]:
    """Yield the lines of a passage that answer best, the most first; before them what it defines of `named`."""
    for one in named:
        if one.path == passage.path and passage.start <= one.line <= passage.end:
            yield from excerpts_of_definition(one, lines, spans, commit=passage.commit, stems=stems)
    found = (excerpt_of_passage(passage, stems, size) for size in SIZES)
    yield from (whole for excerpt in found if excerpt and (whole := whole_excerpt(excerpt, lines, spans)))


def excerpt_of_passage(passage: Passage, stems: frozenset[str], size: int) -> Excerpt | None:
    """Return the at most `size` lines of a passage that answer best; None if none may be quoted."""
    lines = passage.text.split("\n")
    window = best_lines([line if len(line) <= MAX_LINE_CHARS else _UNQUOTABLE for line in lines], stems, size)
    if window is None:
        return None
    return Excerpt(
        path=passage.path,
        start=passage.start + window[0],
        end=passage.start + window[1] - 1,
        commit=passage.commit,
        text="\n".join(lines[slice(*window)]),
        covered=len(shared_stems(stems, f"{passage.path} {passage.text}")),
    )


def excerpts_of_definition(
    definition: Definition, lines: Sequence[str], spans: Spans, *, commit: str, stems: frozenset[str]
) -> Iterator[Excerpt]:
    """Yield a definition's first lines as they may be quoted, the most first; nothing if it is not on its line."""
    if definition.line > len(lines) or definition.name not in lines[definition.line - 1]:
        return
    end = definition_end(lines, definition.line)
    above = first_attached(lines, definition.line - 1) + 1
    starts = [above] if definition.line - above <= MAX_ATTACHED else []
    head = _signature_lines(lines, definition.line)
    for size in (SIZES[0] + head, *SIZES) if head else SIZES:
        for start in dict.fromkeys((*starts, definition.line)):
            cut = _cut(definition.path, lines, start, min(end, definition.line + size - 1), commit, stems)
            if whole := whole_excerpt(replace(cut, defines=definition.name), lines, spans):
                yield whole


def _signature_lines(lines: Sequence[str], line: int) -> int:
    """Return how many lines below its first one the head of a definition has; 0 where it is written on one line."""
    first = lines[line - 1]
    if not first.rstrip().endswith(("(", "[")):
        return 0
    indent = first[: len(first) - len(first.lstrip())]
    below = lines[line : line + MAX_SIGNATURE]
    return next((at for at, text in enumerate(below, 1) if text.startswith((f"{indent})", f"{indent}]"))), 0)


def excerpts_of_frame(
    place: TracePlace, lines: Sequence[str], spans: Spans, *, commit: str, stems: frozenset[str], sizes: Sequence[int]
) -> Iterator[Excerpt]:
    """Yield the lines around a stack frame as they may be quoted, the most first; nothing if its line is not known."""
    at = place.line
    if at is None or at > len(lines):
        return
    for around in sizes:
        start, end = _without_blank_ends(lines, max(1, at - around), min(len(lines), at + around))
        cut = _cut(place.path, lines, start, end, commit, stems)
        if whole := whole_excerpt(replace(cut, frame=f"{place.path}:{at}"), lines, spans):
            yield whole


def _cut(path: str, lines: Sequence[str], start: int, end: int, commit: str, stems: frozenset[str]) -> Excerpt:
    """Return the lines from `start` to `end` of a file, counted from 1."""
    text = "\n".join(lines[start - 1 : end])
    covered = len(shared_stems(stems, f"{path} {text}"))
    return Excerpt(path=path, start=start, end=end, commit=commit, text=text, covered=covered)


def _without_blank_ends(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start - 1].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def excerpts_of_file(path: str, lines: Sequence[str], spans: Spans, *, commit: str) -> Iterator[Excerpt]:
    """Yield a file's first lines as they may be quoted, the most first."""
    for size in SIZES:
        text = "\n".join(lines[:size]).rstrip()
        first = Excerpt(path=path, start=1, end=text.count("\n") + 1, commit=commit, text=text, covered=1)
        if text and (whole := whole_excerpt(first, lines, spans)):
            yield whole


def whole_excerpt(excerpt: Excerpt, lines: Sequence[str], spans: Spans) -> Excerpt | None:
    """Return an excerpt with as many lines around it as a quotation needs to keep its sense; None if it needs many."""
    for before, after in _WIDENINGS:
        start, end = max(1, excerpt.start - before), min(len(lines), excerpt.end + after)
        text = "\n".join(lines[start - 1 : end])
        can_be_quoted = is_quotable(text) and max(map(len, text.split("\n"))) <= MAX_LINE_CHARS
        if can_be_quoted and flaw_of(text, lines, spans, start=start, end=end) is None:
            is_same = (start, end) == (excerpt.start, excerpt.end)
            return excerpt if is_same else replace(excerpt, start=start, end=end, text=text)
    return None
