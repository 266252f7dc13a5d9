"""Which lines of a file answer, and these lines as a citation.

Reads committed files. Of a definition or a passage at most MAX_LINES lines are quoted: those that hold the question's
words, rare ones counting more. Lines that would leave their code fence or hold a credential are never chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.citations.citation_lines import CitedLines, Scan
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.search.definitions import Definition, definition_end
from bot.domain.search.passages import first_attached, is_import, is_quotable
from bot.domain.search.tokens import shared_stems
from bot.ports import PassageIndex

MAX_LINES: Final = 12
MAX_LINE_CHARS: Final = 400
"""A longer line is data or made by a machine; half of it would be no verbatim line."""

MAX_ATTACHED: Final = 6
"""Lines of comments and decorators above a definition that are quoted with it."""

MAX_LOOKED_AT: Final = 800
MAX_TRIED: Final = 20

SETS_NUMBER: Final = re.compile(r"[=:,(]\s*[-+]?\.?\d")


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file at one commit, verbatim."""

    path: str
    start: int
    end: int
    commit: str
    text: str

    @property
    def ref(self) -> str:
        """The citation of these lines."""
        return str(CitedLines(self.path, self.start, self.end))

    def cited_for(self, claim: str) -> EvidenceRef:
        """Return the evidence that these lines are for a claim."""
        return EvidenceRef(
            kind=EvidenceKind.FILE, ref=self.ref, commit=self.commit, quote=self.text, supports_claim=claim
        )


class Quotes:
    """The files of `index` at a commit, of which lines may be quoted, and those that `refused` names left out."""

    def __init__(self, index: PassageIndex, commit: str, refused: str = "") -> None:
        self.commit, self.index, self._refused = commit, index, refused
        self._files: dict[str, Sequence[str]] = {}
        self._scans: dict[str, Scan] = {}

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file; none of one that is not searched. Raises ProviderError."""
        if path not in self._files:
            self._files[path] = self.index.lines(path)
        return self._files[path]

    def of_definition(self, one: Definition, stems: frozenset[str], *, of_meaning: bool = False) -> Excerpt | None:
        """Return the lines of a definition that answer best, its head where nothing in it does; None if it is gone.

        A long comment above it is its head only where its meaning is asked.
        """
        lines = self.lines(one.path)
        if one.line > len(lines) or one.name not in lines[one.line - 1]:
            return None
        above = first_attached(lines, one.line - 1) + 1
        start = above if of_meaning or one.line - above <= MAX_ATTACHED else one.line
        return self.best(one.path, start, definition_end(lines, one.line), stems, head=start)

    def around(self, path: str, line: int, *, before: int = 5, behind: int = 6) -> Excerpt | None:
        """Return the lines around one line, which is among them."""
        lines = self.lines(path)
        if not 0 < line <= len(lines):
            return None
        for reach in range(max(before, behind), -1, -1):
            start, end = max(1, line - min(reach, before)), min(len(lines), line + min(reach, behind))
            if found := self._cut(path, *_trimmed(lines, start, end, keep=line)):
                return found
        return None

    def best(
        self, path: str, start: int, end: int, stems: frozenset[str], *, head: int | None = None
    ) -> Excerpt | None:
        """Return the at most MAX_LINES of the lines `start` to `end` that hold most of the stems, then most often.

        A stem counts less, the more lines hold it. `head` is the line that a quote may begin with where no line holds
        any; without it nothing is quoted.
        """
        lines = self.lines(path)
        span = range(start, min(end, start + MAX_LOOKED_AT, len(lines)) + 1)
        held = {at: shared_stems(stems, lines[at - 1]) for at in span if not is_import(lines[at - 1])}
        counts = Counter(one for found in held.values() for one in found)

        def told(window: tuple[int, int]) -> tuple[float, int]:
            """Return what the stems that a run of lines holds tell, and how often it holds any."""
            inside = [held.get(at, frozenset()) for at in range(window[0], window[1] + 1)]
            distinct = sum(1 / math.log2(1 + counts[one]) for one in frozenset[str]().union(*inside))
            return round(distinct, 6), sum(map(len, inside))

        windows = [_trimmed(lines, at, min(span[-1], at + MAX_LINES - 1)) for at in span if lines[at - 1].strip()]
        ranked = sorted((one for one in windows if one[0] == head or any(told(one))), key=told, reverse=True)
        return next((found for one in ranked[:MAX_TRIED] if (found := self._cut(path, *one))), None)

    def _cut(self, path: str, start: int, end: int) -> Excerpt | None:
        """Return lines with the rest of a comment or string that they cut, where that is short; None if refused."""
        lines = self.lines(path)
        if path not in self._scans:
            self._scans[path] = Scan(path, lines)
        whole = self._scans[path].widened(start, end)
        for first, last in dict.fromkeys((whole, (start, end))):
            text = "\n".join(lines[first - 1 : last])
            is_short = (
                last - first < max(MAX_LINES, end - start + 1) and max(map(len, text.split("\n"))) <= MAX_LINE_CHARS
            )
            if is_short and is_quotable(text) and any(map(str.isalnum, text)):
                found = Excerpt(path=path, start=first, end=last, commit=self.commit, text=text)
                return None if found.ref in self._refused else found
        return None


def _trimmed(lines: Sequence[str], start: int, end: int, *, keep: int = 0) -> tuple[int, int]:
    """Return a run without blank lines at its ends, and without decorators at its end, which belong to what follows."""
    while start < end and start != keep and not lines[start - 1].strip():
        start += 1
    while end > start and end != keep and (not (last := lines[end - 1].strip()) or last.startswith("@")):
        end -= 1
    return start, end
