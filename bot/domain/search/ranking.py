"""Which passages, and which of several codebases, answer a question best. Pure.

SQLite's BM25 says how well a passage holds the words; here counts the kind of its file, and where words are rare.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from bot.domain.search.files import path_weight

COVERAGE_SHARE = 0.8
COVERAGE_WORTH = 2.0
"""What a passage that holds all words scores for that alone; SQLite gives nothing for words that most passages hold."""

ENOUGH_COVERED = 0.5
ENOUGH_WORDS = 5
ENOUGH_SCORE = 0.45
"""Times the logarithm of the number of passages, which the rarity of a word grows with; any of the three will do."""

WORD_WORTH = 2.0
"""What any word of a question tells, beside how rare it is."""

BELIEF_FOUND = 5.0
BELIEF_SIZE = 15.0


class Ranked(NamedTuple):
    """A passage by its id, and its score."""

    passage: int
    score: float


class WordCounts(NamedTuple):
    """How many passages there are, and how many of them hold each word of a question, in one index or in several."""

    total: int
    found: Mapping[str, int]


def rank(
    scores: Mapping[int, float],
    held: Mapping[str, Collection[int]],
    counts: WordCounts,
    paths: Mapping[int, str],
    *,
    question: str,
    limit: int,
) -> list[Ranked]:
    """Return the best passages, best first; none that holds too little of the question.

    The more of the words it holds the better, rare words telling more; then the kind of its file counts.

    Args:
        scores: How well each passage holds the words.
        held: The passages that hold each word.
        counts: How many passages hold each word of the question, none for some.
        paths: The file of each passage that is looked at.
    """
    worth = {word: WORD_WORTH + rarity(found, counts.total) for word, found in counts.found.items()}
    whole = sum(worth.values()) or 1.0
    weighed = []
    for one, path in paths.items():
        words = [word for word, passages in held.items() if one in passages]
        share = sum(map(worth.__getitem__, words)) / whole
        covering = 1 - COVERAGE_SHARE + COVERAGE_SHARE * share
        score = (scores[one] + COVERAGE_WORTH * share) * covering * path_weight(path, question)
        is_enough = score >= ENOUGH_SCORE * math.log(counts.total + 1)
        if share >= ENOUGH_COVERED or len(words) >= ENOUGH_WORDS or is_enough:
            weighed.append(Ranked(one, score))
    return sorted(weighed, key=lambda one: -one.score)[:limit]


def joined(counts: Iterable[WordCounts]) -> WordCounts:
    """Return several counts as one.

    >>> joined([WordCounts(10, {"cart": 4}), WordCounts(90, {"cart": 1})])
    WordCounts(total=100, found=Counter({'cart': 5}))
    """
    total, found = 0, Counter[str]()
    for one in counts:
        total += one.total
        found.update(one.found)
    return WordCounts(total, found)


def likelihood(own: WordCounts, every: WordCounts, indexes: int) -> float:
    """Return how likely an index, one of several, holds what is asked, told by its words alone.

    Rare words tell more, and a word tells more where many passages of a small index hold it. Source: Callan, Lu and
    Croft, "Searching distributed collections with inference networks", 1995; its constants were for larger collections.
    """
    size = BELIEF_FOUND + BELIEF_SIZE * own.total * indexes / max(every.total, 1)
    return sum(rarity(every.found[word], every.total) * found / (found + size) for word, found in own.found.items())


def rescaling(own: WordCounts, every: WordCounts) -> float:
    """Return by what to multiply the scores of an index to compare them with those of others.

    A word that one repository hardly knows counts most just there; so it is taken to be as rare as it is in all.
    """
    held = [word for word, found in own.found.items() if found]
    here = sum(rarity(own.found[word], own.total) for word in held)
    return sum(rarity(every.found[word], every.total) for word in held) / here if here else 0.0


def rarity(found: int, total: int) -> float:
    """Return how much a word tells: about 0 where every passage holds it, most where none does."""
    return math.log(1 + (total - found + 0.5) / (found + 0.5))
