"""What people changed in a text, as a short list of word changes. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final

MAX_WORDS: Final = 300
"""Of each text; what lies behind is not compared. Comparing takes 0.4 s at worst, and a dialogue waits for it."""
MAX_CHANGES: Final = 6
SIDE_CHARS: Final = 160
CONTEXT: Final = 2
REWRITTEN: Final = 0.35
"""The share of words in common below which a list of changes would say nothing."""
_WORD: Final = re.compile(r"\S+")


def word_changes(before: str, after: str) -> list[str]:
    """Return a line for each place that changed, with two words around it; none where nearly all is new, or nothing.

    >>> word_changes("The gateway is retried five times, then we give up.", "The gateway is retried three times.")
    ['“is retried five times, then we give up.” became “is retried three times.”']
    """
    old, new = _WORD.findall(before)[:MAX_WORDS], _WORD.findall(after)[:MAX_WORDS]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < REWRITTEN:
        return []
    places = [
        _change(old[group[0][1] : group[-1][2]], new[group[0][3] : group[-1][4]])
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]
    more = [f"{len(places) - MAX_CHANGES} more places changed"] if len(places) > MAX_CHANGES else []
    return [*places[:MAX_CHANGES], *more]


def _change(old: Sequence[str], new: Sequence[str]) -> str:
    return f"“{_cut(old)}” became “{_cut(new)}”"


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= SIDE_CHARS else f"{text[: SIDE_CHARS - 1].rstrip()}…"
