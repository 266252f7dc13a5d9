"""The words of `tiers` commands: a tier, a task's number; what is none is refused with what to type instead. Pure."""

from __future__ import annotations

import difflib

from bot.domain.tiers import Tier
from bot.errors import InputError


def parse_tier(word: str, session_id: str) -> Tier:
    """Return the tier a word names; raises InputError, with the near ones, for any other word."""
    if word.lower() in tuple(Tier):
        return Tier(word.lower())
    near = difflib.get_close_matches(word.lower(), [*Tier], n=1)
    hint = f"did you mean {near[0]}?" if near else "there are quick, hourly and daily"
    said = f"{word[:40]!r} is no tier" if word else f"Name a tier: /triage tiers {session_id} …"
    raise InputError(f"{said}; {hint}")


def parse_number(word: str, session_id: str) -> int:
    """Return a task's number; raises InputError for any other word.

    >>> parse_number("#3", "shop")
    3
    """
    bare = word.removeprefix("#").removesuffix(".")
    if bare.isascii() and bare.isdigit() and len(bare) <= 6:
        return int(bare)
    said = f"{word[:40]!r} is no task's number" if word else "Which task? Name its number"
    raise InputError(f"{said}; to see them: /triage tiers {session_id}")
