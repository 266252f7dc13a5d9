"""From matches of single terms to the best passages: what answers a question covers it, in a file that is about it.

Pure. A passage scores by its own matches, by how much of the question it covers (rare words count more), by the file
it lies in and by what kind of file that is; further passages of one file count less, so that one file never fills the
answer.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bot.domain.search.files import path_weight
from bot.domain.search.tokens import Term

# Chosen on the tuned sets of benchmarks/questions.yml, where neighbouring values differ by under 1 % in rank.
FILE_SHARE = 0.35
COVERAGE_SHARE = 0.6
SAME_FILE = 0.6
MIN_COVERAGE = 0.35
WORD_WORTH = 2.0
ENOUGH_WORDS = 5
BELIEF_FOUND = 5.0
BELIEF_SIZE = 15.0
MANY = 200
"""As many passages are looked at first; what kind of file each lies in takes time to tell."""


@dataclass(frozen=True, slots=True)
class Match:
    """The passages a term occurs in, with the BM25 score of each; `found` is how many there are, here or not."""

    term: Term
    scores: Mapping[int, float]
    found: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """How many passages there are, and how many of them hold each term of a question, in one index or in several."""

    total: int
    found: Mapping[Term, int]


def joined(corpora: Iterable[Corpus]) -> Corpus:
    """Return several corpora as one.

    >>> word = Term(("cart",), 1.0, "cart")
    >>> joined([Corpus(10, {word: 4}), Corpus(90, {word: 1})]).found[word]
    5
    """
    total, found = 0, Counter[Term]()
    for one in corpora:
        total += one.total
        found.update(one.found)
    return Corpus(total, found)


def likelihood(own: Corpus, corpus: Corpus, indexes: int) -> float:
    """Return how likely an index, one of several of a `corpus`, holds what is asked, told by its words alone.

    Rare words tell more, and a word tells more where many passages of a small index hold it. Source: Callan, Lu and
    Croft, "Searching distributed collections with inference networks", 1995; its constants were for larger collections.
    """
    size = BELIEF_FOUND + BELIEF_SIZE * own.total * indexes / max(corpus.total, 1)
    by_word: dict[object, float] = {}
    for term, found in own.found.items():
        told = term.weight * rarity(corpus.found[term], corpus.total) * found / (found + size)
        by_word[term.about or term] = max(by_word.get(term.about or term, 0.0), told)
    return sum(by_word.values())


def rescaled(match: Match, own: Corpus, corpus: Corpus, *, counted_up_to: int) -> Match:
    """Return a match as if its index had the statistics of `corpus`: a word is as rare as it is there.

    BM25 multiplies by the rarity of a word in its own index, so a word that one repository hardly knows counts most
    just there. From `counted_up_to` on the scores are `rarity` itself.
    """
    here, there = own.found.get(match.term, match.found), corpus.found.get(match.term, match.found)
    weigh = rarity if here >= counted_up_to else _bm25_rarity
    factor = weigh(there, corpus.total) / weigh(here, own.total)
    return Match(match.term, {passage: score * factor for passage, score in match.scores.items()}, there)


def _bm25_rarity(found: int, total: int) -> float:
    """Return SQLite's inverse document frequency. Source: fts5Bm25GetData in fts5_aux.c, its floor included."""
    return max(1e-6, math.log((total - found + 0.5) / (found + 0.5))) if found < total else 1e-6


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage by its id, its score, and the share of the question's words (rare ones weigh more) it covers."""

    passage: int
    score: float
    coverage: float


def rarity(found: int, total: int) -> float:
    """Return how much a word tells: about 0 where every passage holds it, most where none does."""
    return math.log(1 + (total - found + 0.5) / (found + 0.5))


def rank(matches: Sequence[Match], paths: Mapping[int, str], *, total: int, question: str, limit: int) -> list[Ranked]:
    """Return the best passages of an index of `total`, best first; empty if none covers enough of the question."""
    by_word = _by_word(matches)
    rarities = {
        match.term.about: WORD_WORTH + rarity(match.found, total)
        for match in matches
        if match.term.about and match.term.weight == 1
    }
    covered = _covered(by_word, rarities)
    files, sums = _file_scores(by_word, paths), _sums(by_word, matches)
    scores = {
        passage: sums[passage] * (1 - COVERAGE_SHARE + COVERAGE_SHARE * share) + FILE_SHARE * files[paths[passage]]
        for passage, share in covered.items()
    }
    weigh = cache(lambda path: path_weight(path, question))
    order = sorted(scores, key=lambda passage: (-scores[passage], passage))
    size = MANY
    while True:
        ranked = [Ranked(one, scores[one] * weigh(paths[one]), covered[one]) for one in order[:size]]
        best = _spread(ranked, paths, limit)
        # no file weighs more than 1, so what follows in the order cannot be among the best
        if size >= len(order) or (len(best) == limit and best[-1].score > scores[order[size]]):
            return best
        size *= 4


def _by_word(matches: Sequence[Match]) -> dict[str, dict[int, float]]:
    """Return, for each word of the question, its score in each passage: its own or that of the best near word."""
    by_word: dict[str, dict[int, float]] = defaultdict(dict)
    for match in matches:
        if match.term.about:
            scores = by_word[match.term.about]
            for passage, score in match.scores.items():
                scores[passage] = max(scores.get(passage, 0.0), score * match.term.weight)
    return by_word


def _covered(by_word: Mapping[str, Mapping[int, float]], rarities: Mapping[str, float]) -> dict[int, float]:
    """Return the share of the question that each passage covers; only of passages that cover enough of it."""
    whole = sum(rarities.values()) or 1.0
    shares: dict[int, float] = {}
    words: dict[int, int] = {}
    for word, scores in by_word.items():
        share = rarities.get(word, 0.0) / whole
        for passage in scores:
            shares[passage] = shares.get(passage, 0.0) + share
            words[passage] = words.get(passage, 0) + 1
    return {
        passage: share for passage, share in shares.items() if share >= MIN_COVERAGE or words[passage] >= ENOUGH_WORDS
    }


def _sums(by_word: Mapping[str, Mapping[int, float]], matches: Sequence[Match]) -> dict[int, float]:
    sums: dict[int, float] = defaultdict(float)
    for scores in by_word.values():
        for passage, score in scores.items():
            sums[passage] += score
    for match in matches:
        if match.term.about is None:
            for passage, score in match.scores.items():
                sums[passage] += score * match.term.weight
    return sums


def _file_scores(by_word: Mapping[str, Mapping[int, float]], paths: Mapping[int, str]) -> dict[str, float]:
    """Return the score of each file: for every word, that of the file's best passage."""
    files: dict[str, float] = defaultdict(float)
    for scores in by_word.values():
        best: dict[str, float] = defaultdict(float)
        for passage, score in scores.items():
            best[paths[passage]] = max(best[paths[passage]], score)
        for path, score in best.items():
            files[path] += score
    return files


def _spread(ranked: Sequence[Ranked], paths: Mapping[int, str], limit: int) -> list[Ranked]:
    """Return the best `limit`, each further passage of a file lowered by SAME_FILE."""
    taken: dict[str, int] = defaultdict(int)
    spread = []
    for one in sorted(ranked, key=lambda one: (-one.score, one.passage)):
        path = paths[one.passage]
        spread.append(Ranked(one.passage, one.score * SAME_FILE ** taken[path], one.coverage))
        taken[path] += 1
    return sorted(spread, key=lambda one: (-one.score, one.passage))[:limit]
