"""Cuts the middle out of a long report, but for the lines that tell what went wrong.

Pure. Works on mrkdwn: what is left of a code block is drawn as code, wherever the cut goes through it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final

from blocks.text.escaping import FENCE
from blocks.text.splitting import shorten
from bot.domain.search.error_lines import error_lines

MIN_LINES: Final = 12
"""A text of fewer lines is prose, whose beginning tells most."""
ERROR_SHARE: Final = 3
"""One part in so many of the room is for errors and what stands around them, if any are in the middle."""
MAX_ERROR_CHARS: Final = 240
AROUND: Final = 2
"""Lines before and after an error: its innermost frame."""
_MARK_CHARS: Final = 40
"""A note of what is left out, and the marks of a code block that is cut there."""


def without_middle(text: str, limit: int) -> str:
    """Return a text of many lines without those of its middle, so that at most `limit` characters are left.

    Of a log or a stack trace the end tells most, and the lines that name the error wherever they stand. A text of few
    lines, and one whose first or last line takes all the room, stays.

    >>> without_middle("\\n".join(map(str, range(1, 100))), 50).split("\\n")
    ['1', '2', '… (96 lines left out)', '99']
    """
    lines = text.split("\n")
    if len(text) <= limit or len(lines) < MIN_LINES:
        return text
    ends = _ends(lines, limit - _MARK_CHARS)
    if any(number not in ends for number in error_lines(lines)):
        ends = _ends(lines, limit - limit // ERROR_SHARE - _MARK_CHARS)
    if 0 not in ends or len(lines) - 1 not in ends:
        return text
    errors = _errors(lines, ends, limit // ERROR_SHARE)
    lines = [_shortened(line) if number in errors else line for number, line in enumerate(lines)]
    return "\n".join(_joined(lines, ends | errors))


def _shortened(line: str) -> str:
    return line if FENCE in line else shorten(line, MAX_ERROR_CHARS)


def _ends(lines: Sequence[str], room: int) -> set[int]:
    """Return the numbers of the lines at both ends that fit half of `room` characters each."""
    sizes = [len(line) + 1 for line in lines]
    first = sum(size <= room // 2 for size in accumulate(sizes))
    last = sum(size <= room // 2 for size in accumulate(reversed(sizes)))
    return {*range(first), *range(len(lines) - last, len(lines))}


def _errors(lines: Sequence[str], ends: Collection[int], room: int) -> set[int]:
    """Return the numbers of the lines between the ends that name errors, and of those around them, while they fit."""
    kept: set[int] = set()
    named = [number for number in error_lines(lines) if number not in ends]
    for number in named:
        cost = len(_shortened(lines[number])) + _MARK_CHARS
        if cost <= room:
            kept.add(number)
            room -= cost
    for far in range(1, AROUND + 1):
        for number in [near for one in named if one in kept for near in (one - far, one + far)]:
            cost = len(lines[number]) + 1
            if number not in ends and number not in kept and cost <= min(room, MAX_ERROR_CHARS):
                kept.add(number)
                room -= cost
    return kept


def _joined(lines: Sequence[str], kept: Collection[int]) -> Iterator[str]:
    """Yield the kept lines, and a note for each gap outside of any code block that it cuts through."""
    gap, opened, is_code = 0, False, False
    for number, line in enumerate(lines):
        if number in kept:
            if gap:
                yield from _note(gap, opened=opened, is_code=is_code)
            yield line
            gap = 0
        elif not gap:
            opened = is_code
        gap += number not in kept
        is_code ^= line.count(FENCE) % 2 == 1


def _note(count: int, *, opened: bool, is_code: bool) -> Iterator[str]:
    """Yield the note of a gap that begins within a code block if `opened`, and ends within one if `is_code`."""
    if opened and not is_code:
        yield FENCE
    yield f"… ({count} line{'s' * (count > 1)} left out)"
    if is_code and not opened:
        yield FENCE
