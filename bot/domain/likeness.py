"""Whether two tasks are one: the same words in any order and wording, or the same commands. Pure.

Too near is a missed suggestion, too far a double check at every beat; of the two a missed suggestion costs less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from bot.domain.dedupe import normalised
from bot.domain.words import STOP_WORDS, stem

NEAR: Final = 0.6
"""The share of words two tasks have in common from which on they are one."""

_COMMAND: Final = re.compile(r"`([^`\s]+\s[^`]*)`")
"""Two words or more in backticks; a lone one there is a name."""
_WORD: Final = re.compile(r"\w+")


def is_alike(one: str, other: str) -> bool:
    """Whether two task lines ask for the same check.

    >>> is_alike("Open PRs and their CI: `gh pr status`", "CI of open PRs"), is_alike("Stale branches", "Stale flags")
    (True, False)
    """
    mine, its = _sense(one), _sense(other)
    if mine.said == its.said:
        return True
    if mine.commands and its.commands:
        return mine.commands == its.commands
    shared = len(mine.words & its.words)
    return shared > 0 and shared >= NEAR * len(mine.words | its.words)


def is_any_alike(task: str, others: Iterable[str]) -> bool:
    """Whether a task is one of those."""
    return any(is_alike(task, other) for other in others)


class _Sense(NamedTuple):
    """What a task says: as it stands, by its commands, by its words."""

    said: str
    commands: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=4_096)
def _sense(text: str) -> _Sense:
    words = _COMMAND.sub(" ", text).strip() or text
    return _Sense(
        said=normalised(text),
        commands=frozenset(" ".join(command.split()) for command in _COMMAND.findall(text)),
        words=frozenset(stem(word) for word in _WORD.findall(words.casefold()) if word not in STOP_WORDS),
    )
