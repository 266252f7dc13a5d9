"""Where lines of a file are to be found in a later version of it. Pure; lines are 1-based and inclusive."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_COMPARED: Final = 2_000
"""Changed lines of each version; what is longer was rewritten, and its whole range is the answer."""


class Lines(NamedTuple):
    """A run of lines."""

    start: int
    end: int


def moved(old: Sequence[str], new: Sequence[str], lines: Lines) -> Lines | None:
    """Return where lines of `old` stand in `new`, as they are there; None where they were removed.

    >>> moved(["a", "b", "c"], ["x", "a", "B", "c"], Lines(2, 3)), moved(["a", "b", "c"], ["a", "c"], Lines(2, 2))
    (Lines(start=3, end=4), None)
    """
    places = [
        place
        for tag, i1, i2, j1, j2 in _opcodes(old, new)
        if (place := _within(tag, i1, i2, j1, j2, lines.start - 1, lines.end)) is not None
    ]
    return Lines(min(start for start, _ in places) + 1, max(end for _, end in places)) if places else None


def _within(tag: str, i1: int, i2: int, j1: int, j2: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the part of a change that old lines `start` to `end` (0-based, end excluded) became."""
    first, last = max(i1, start), min(i2, end)
    if first >= last or j1 == j2:
        return None
    return (j1 + first - i1, j1 + last - i1) if tag == "equal" else (j1, j2)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """Return how `old` became `new`; what both begin and end with costs nothing."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[tuple[str, int, int, int, int]] = [("replace", 0, len(a), 0, len(b))]
    if len(a) <= MAX_COMPARED and len(b) <= MAX_COMPARED:
        middle = list(difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    return [
        ("equal", 0, head, 0, head),
        *((tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in middle),
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
