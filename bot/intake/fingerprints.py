"""What stays the same in a line that is said again and again: its words without times, counts, ids and measured values.

A number is left out where it has a unit, begins a clause, follows is, at, of or =, or has five digits; other numbers
are names, as in "shard 3" or "HTTP 503". Addresses stay. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from bot.domain.table_files import load_table
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


_UNIT: Final = "|".join(sorted(load_table(__file__, "alerts.yml")["units"].split(), key=len, reverse=True))
_PASSING: Final = [
    LinearPattern(f"(?P<before>{before})(?:{what})(?P<end>{end})")
    for before, what, end in (
        ("", _DATE, ""),
        (r"^|[\s,(\[]", _CLOCK, _END),
        (r"^|[^\w.-]", rf"{_NUMBER}\s?(?:{_UNIT})", _END),
        (_NAMES_A_VALUE, _NUMBER, _END),
        (r"^|[\s,(\[='\"]", r"-?\d{5,}", _END),
        ("", _ID, ""),
    )
]


def normalise(line: str) -> str:
    """Return what of a line stays from one message about a thing to the next, in small letters.

    >>> normalise("CPU of shard 3 is 91.2 at 14:02:11, p99 = 340 ms")
    'cpu of shard 3 is at, p99 ='
    """
    text = line[:MAX_CHARS].casefold()
    for pattern in _PASSING:
        text = pattern.replaced(text, r"\g<before>\g<end>")
    return " ".join(text.split()).replace(" ,", ",").strip(" .,;:-–—|#")


def fingerprint(parts: Iterable[str]) -> str:
    """Return 16 hex digits that stand for these parts in this order."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
