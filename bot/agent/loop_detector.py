"""Detects that a run repeats itself: its tool calls ask what earlier ones asked.

Letter case, white space, word order and the order of keys make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

SAME_IN_A_ROW: Final = 3
"""Turns with the same calls that count as a circle of one."""

_LONGEST_CIRCLE: Final = 3
_WORD: Final = re.compile(r"[^\s,;]+")

Call = tuple[str, Mapping[str, Any]]


class LoopDetector:
    """Remembers the calls of every turn of one run."""

    def __init__(self) -> None:
        self._turns: list[frozenset[str]] = []

    def note(self, calls: Sequence[Call]) -> str | None:
        """Add a turn's calls; return what repeats, in words, or None while there is progress."""
        self._turns.append(frozenset(signature(name, arguments) for name, arguments in calls))
        if len(set(self._turns[-SAME_IN_A_ROW:])) == 1 and len(self._turns) >= SAME_IN_A_ROW:
            return f"the same call {SAME_IN_A_ROW} times in a row"
        for length in range(2, _LONGEST_CIRCLE + 1):
            last, before = self._turns[-length:], self._turns[-2 * length : -length]
            if last == before:
                return f"the same {length} calls in turn, twice"
        return None


def signature(name: str, arguments: Any) -> str:
    """Return what a call asks, without the differences that do not matter.

    >>> signature("search_code", {"query": "Retry  limit"}) == signature("search_code", {"query": "limit retry "})
    True
    >>> signature("read_file", {"path": "a.py", "start": 1}) == signature("read_file", {"path": "a.py", "start": 2})
    False
    """
    return f"{name} {_plain(arguments)}"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{key}:{_plain(item)}" for key, item in value.items())) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(sorted(map(_plain, value))) + "]"
    if isinstance(value, str):
        return " ".join(sorted(_WORD.findall(value.casefold())))
    return repr(value)
