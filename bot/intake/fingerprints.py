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
_DATE: Final = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d{1,2}/\d{1,2}/\d{2,4})"
    r"(?:[t ,]+\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:\s?z|\s?[+-]\d\d:?\d\d|\s?utc)?"
)
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]m|\s?utc)?"
_ID: Final = r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|#\d+|-?\d{10,}|\b[0-9a-f]{7,64}\b"
_NAMES_A_VALUE: Final = r"^\W*|[,;:]\s+|[(\[|]\s*|\s[-–—]\s+|\b(?:is|at|of)\s+|[=>]\s*"
_END: Final = r"[\s,;:!?)\]}>\"'|]|\.\s|\.?$"


class Normaliser:
    """Leaves out of lines what changes from one message about a thing to the next.

    Args:
        units: What may stand behind a measured number, such as `ms`.
    """

    def __init__(self, units: Iterable[str]) -> None:
        unit = "|".join(sorted(units, key=len, reverse=True))
        passing = (
            ("", _DATE, ""),
            (r"^|[\s,(\[]", _CLOCK, _END),
            (r"^|[^\w.-]", rf"{_NUMBER}\s?(?:{unit})", _END),
            (_NAMES_A_VALUE, _NUMBER, _END),
            (r"^|[\s,(\[='\"]", r"-?\d{5,}", _END),
            ("", _ID, ""),
        )
        self._passing: Final = [
            LinearPattern(f"(?P<before>{before})(?:{what})(?P<end>{end})") for before, what, end in passing
        ]

    def normalise(self, line: str) -> str:
        """Return what of a line stays, in small letters.

        >>> Normaliser(["ms", "%"]).normalise("CPU of shard 3 is 91.2 at 14:02:11, p99 = 340 ms")
        'cpu of shard 3 is at, p99 ='
        """
        text = line[:MAX_CHARS].casefold()
        for pattern in self._passing:
            text = pattern.replaced(text, r"\g<before>\g<end>")
        return " ".join(text.split()).replace(" ,", ",").strip(" .,;:-–—|#")


def fingerprint(parts: Iterable[str]) -> str:
    """Return 16 hex digits that stand for these parts in this order."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
