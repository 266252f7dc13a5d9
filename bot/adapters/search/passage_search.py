"""One question to the passage index: its terms, the passages worth ranking, and their rank.

Reads the rows. Every passage that holds a term is ranked while these are few. In a large codebase SQLite chooses the
passages with the best sum of BM25 scores, and only these are ranked, so a question costs about the same however large
the codebase is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.adapters.search import passage_rows as rows
from bot.domain.search.ranking import Corpus, Match, Ranked, rank, rarity, rescaled
from bot.domain.search.tokens import Term, helping_terms, question_terms

MAX_TERMS: Final = 40
FEW: Final = 20_000
"""As many matches are all ranked; a term's passages are counted, and scored one by one, up to as many."""

CANDIDATES: Final = 400
NEAR_CANDIDATES: Final = 100
TOP: Final = 1_000
"""Of a term with more passages than these, the others count as much as the last of these."""

MIN_WORDS: Final = 3
"""As many words choose the candidates, the rarest ones; further words do only if they are rare."""

Counts = Mapping[Term, int]


def terms_of(question: str, subject: str) -> tuple[Term, ...]:
    """Return what to look for; the words of `subject` are the question where it has no telling words of its own."""
    own = question_terms(question)
    return (*own, *helping_terms(subject)) if own else question_terms(subject)


def corpus_of(connection: sqlite3.Connection, terms: Sequence[Term], few: int = FEW) -> Corpus:
    """Return how many passages there are, and how many hold each term, `few` where there are more."""
    found = {words: rows.count_matches(connection, words, few) for words in {term.words for term in terms}}
    return Corpus(rows.count_passages(connection), {term: found[term.words] for term in terms})


def find(
    connection: sqlite3.Connection,
    terms: Sequence[Term],
    question: str,
    limit: int,
    few: int = FEW,
    corpus: Corpus | None = None,
    own: Corpus | None = None,
) -> list[Ranked]:
    """Return the best passages, best first; with more than `few` matches only the candidates are ranked.

    With the `corpus` of several indexes their scores can be compared. `own` is what `corpus_of` returned of the terms.
    """
    own = own or corpus_of(connection, terms, few)
    total, counts = own.total, own.found
    kept = _most_telling(terms, counts, total)
    if sum(counts[term] for term in kept) <= few:
        scores = {term: rows.scores(connection, rows.phrase(term.words)) for term in kept if counts[term]}
        matches = [Match(term, scores.get(term, {}), counts[term]) for term in kept]
    else:
        matches = _matches_of_the_best(connection, kept, counts, total, few)
    matches, paths = _alive(connection, matches)
    if corpus is not None:
        matches = [rescaled(match, own, corpus, counted_up_to=few) for match in matches]
        total = corpus.total
    return rank(matches, paths, total=total, question=question, limit=limit)


def similar(connection: sqlite3.Connection, text: str, limit: int, few: int = FEW) -> list[Ranked]:
    """Return the passages with the best sum of BM25 scores over the words of a text, best first."""
    words = [one for one in question_terms(text) if one.about and one.weight == 1]
    counts = {one: rows.count_matches(connection, one.words, few) for one in words}
    found = _best_of_any(connection, _choosing(words, counts, few), limit)
    files = rows.paths(connection, {passage >> rows.FILE_BITS for passage in found})
    return [Ranked(one, score, 0.0) for one, score in found.items() if one >> rows.FILE_BITS in files]


def _most_telling(terms: Sequence[Term], counts: Counts, total: int) -> list[Term]:
    """Return the terms to look for; words that occur nowhere stay, as not covered."""
    telling = sorted(terms, key=lambda term: -term.weight * rarity(counts[term], total) * bool(counts[term]))
    kept = frozenset(telling[:MAX_TERMS])
    return [term for term in terms if term in kept or (not counts[term] and term.about)]


def _matches_of_the_best(
    connection: sqlite3.Connection, terms: Sequence[Term], counts: Counts, total: int, few: int
) -> list[Match]:
    """Return where the terms occur among the candidates."""
    tops = {
        term: rows.best(connection, rows.phrase(term.words), TOP) if counts[term] else {}
        for term in terms
        if counts[term] < few
    }
    candidates = sorted(_candidates(connection, terms, counts, tops, few))
    matches = []
    for term in terms:
        top = tops.get(term)
        if top is not None and counts[term] <= TOP:
            scores: Mapping[int, float] = top
        else:  # the score of a common word differs little between passages
            common = min(top.values()) if top else rarity(counts[term], total)
            held = rows.holding(connection, rows.phrase(term.words), candidates)
            scores = dict.fromkeys(held, common) | (top or {})
        matches.append(Match(term, {one: scores[one] for one in candidates if one in scores}, counts[term]))
    return matches


def _candidates(
    connection: sqlite3.Connection,
    terms: Sequence[Term],
    counts: Counts,
    tops: Mapping[Term, Mapping[int, float]],
    few: int,
) -> set[int]:
    """Return the passages to rank: those best for the question's words, for near words, and for each sequence."""
    chosen = _choosing([one for one in terms if one.about and one.weight == 1], counts, few)
    near = [one for one in terms if one.about and one.weight < 1 and 0 < counts[one] < few]
    found = {*_best_of_any(connection, chosen, CANDIDATES), *_best_of_any(connection, near, NEAR_CANDIDATES)}
    for term, top in tops.items():
        if term.about is None:
            found.update(list(top)[:NEAR_CANDIDATES])
    return found


def _choosing(words: Iterable[Term], counts: Counts, few: int) -> list[Term]:
    """Return the words that choose passages: the rarest, and others only if they are rare."""
    rarest = sorted((one for one in words if counts[one]), key=counts.__getitem__)
    return [one for at, one in enumerate(rarest) if at < MIN_WORDS or counts[one] < few]


def _best_of_any(connection: sqlite3.Connection, terms: Iterable[Term], limit: int) -> dict[int, float]:
    query = " OR ".join(rows.phrase(term.words) for term in terms)
    return rows.best(connection, query, limit) if query else {}


def _alive(connection: sqlite3.Connection, matches: Sequence[Match]) -> tuple[list[Match], dict[int, str]]:
    """Return the matches without passages of files that are gone, and the path of each passage."""
    found = {passage for match in matches for passage in match.scores}
    files = rows.paths(connection, {passage >> rows.FILE_BITS for passage in found})
    paths = {one: path for one in found if (path := files.get(one >> rows.FILE_BITS)) is not None}
    if len(paths) < len(found):
        matches = [
            Match(one.term, {at: score for at, score in one.scores.items() if at in paths}, one.found)
            for one in matches
        ]
    return list(matches), paths
