"""What stays the same in a line that is said again and again: its words without times, counts, ids and measured values.

A number is left out where it has a unit, begins a clause, follows is, at, of or =, or has five digits; other numbers
are names, as in "shard 3" or "HTTP 503". Addresses stay. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from bot.domain.text.linear_patterns import LinearPattern

MAX_CHARS: Final = 500
"""How much of a line is compared."""

_NUMBER: Final = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
_END: Final = r"(?P<end>[\s,;:!?)\]}>\"'|]|\.\s|\.?$)"


class Normaliser:
    """Leaves out of lines what changes from one message about a thing to the next.

    Args:
        units: What may stand behind a measured number, such as `ms`.
    """

    def __init__(self, units: Iterable[str]) -> None:
        unit = "|".join(sorted(units, key=len, reverse=True))
        self._passing: Final = (
            LinearPattern(
                r"\d{4}[-/.]\d\d?[-/.]\d\d?(?:[t ,]+\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:\s?z|\s?[+-]\d\d:?\d\d|\s?utc)?"
                r"|\d{1,2}/\d{1,2}/\d{2,4}(?:[ ,]+\d\d:\d\d(?::\d\d)?)?"
            ),
            LinearPattern(r"(?:^|(?P<before>[\s,(\[]))\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]m|\s?utc)?" + _END),
            LinearPattern(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|#\d+"),
            LinearPattern(rf"(?:^|(?P<before>[^\w.-])){_NUMBER}\s?(?:{unit}){_END}"),
            LinearPattern(rf"(?P<before>^\W*|[,;:]\s+|[(\[|]\s*|\s[-–—]\s+|\b(?:is|at|of)\s+|[=>]\s*){_NUMBER}{_END}"),
            LinearPattern(r"(?:^|(?P<before>[\s,(\[='\"]))-?\d{5,}" + _END),
            LinearPattern(r"-?\d{10,}"),
        )
        self._hash: Final = LinearPattern(r"\b[0-9a-f]{7,64}\b")

    def normalise(self, line: str) -> str:
        """Return what of a line stays, in small letters.

        >>> Normaliser(["ms", "%"]).normalise("CPU of shard 3 is 91.2 at 14:02:11, p99 = 340 ms")
        'cpu of shard 3 is at, p99 ='
        """
        text = line[:MAX_CHARS].casefold()
        for pattern in self._passing:
            text = _without(pattern, text)
        text = _without_hashes(self._hash, text)
        return " ".join(text.split()).replace(" ,", ",").strip(" .,;:-–—|")


def fingerprint(parts: Iterable[str]) -> str:
    """Return 16 hex digits that stand for these parts in this order."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _without(pattern: LinearPattern, text: str) -> str:
    """Return a text without what matches; the groups `before` and `end` of a match stay."""
    kept, last = [], 0
    for start, stop, groups in pattern.matches(text):
        kept += [text[last:start], groups.get("before", ""), groups.get("end", "")]
        last = stop
    return "".join([*kept, text[last:]])


def _without_hashes(pattern: LinearPattern, text: str) -> str:
    """Return a text without commits and other ids in hexadecimal: they have digits and letters."""
    kept, last = [], 0
    for start, stop in pattern.spans(text):
        word = text[start:stop]
        if not word.isdigit() and not word.isalpha():
            kept.append(text[last:start])
            last = stop
    return "".join([*kept, text[last:]])
