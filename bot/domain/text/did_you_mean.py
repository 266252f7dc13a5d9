"""The words somebody may have meant: what begins alike first, then what is spelled alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MOST: Final = 3
READ_CHARS: Final = 60
"""Nobody means a known word by a longer one, and comparing costs the square of the length."""


ALIKE: Final = 0.6
"""The share of letters, 0 to 1, that two words have in common where one may be a slip for the other."""


def near_ones(word: str, known: Iterable[str], *, most: int = MOST, cutoff: float = ALIKE) -> tuple[str, ...]:
    """Return the known words near to one, the nearest first; case does not matter, and "" is near to none.

    >>> near_ones("Paus", ["pause", "resume"]), near_ones("approvers", ["approve-list"]), near_ones("xyz", ["pause"])
    (('pause',), ('approve-list',), ())
    """
    said = word.casefold()[:READ_CHARS]
    if not said:
        return ()
    by_fold = {one.casefold(): one for one in known}
    begins = [one for fold, one in by_fold.items() if len(said) > 1 and fold.startswith(said)]
    alike = [by_fold[fold] for fold in spelled_alike(said, by_fold, most=most, cutoff=cutoff)]
    stems = [one for fold, one in by_fold.items() if len(said) > 4 and fold.startswith(said[:5])]
    return tuple(dict.fromkeys([*begins, *alike, *stems]))[:most]


def spelled_alike(word: str, known: Iterable[str], *, most: int = MOST, cutoff: float = ALIKE) -> list[str]:
    """Return the known texts that share at least `cutoff` (0 to 1) of their letters with one, the nearest first.

    >>> spelled_alike("src/shp.py", ["src/shop.py", "README.md"])
    ['src/shop.py']
    """
    import difflib  # here: a command that is typed right starts without it

    return difflib.get_close_matches(word, list(known), n=most, cutoff=cutoff)
