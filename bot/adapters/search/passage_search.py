"""One question to the passage index: one query of FTS5, whose best passages are ranked.

Reads the rows. Words that many passages hold choose none of them while there are others, so that a question costs about
the same however large the codebase is.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from bot.adapters.search import passage_rows as rows
from bot.adapters.search.name_rows import any_of
from bot.domain.search.ranking import Ranked, WordCounts, rank
from bot.domain.search.tokens import question_phrases, question_words

CANDIDATES: Final = 200
HELP: Final = 0.5
"""What the words of what was asked before add."""

COMMON: Final = 20_000
"""A word that so many passages hold is common; they are counted no further."""

MIN_WORDS: Final = 3
"""So many words are looked for however common they are, the rarest ones."""


def find(connection: sqlite3.Connection, question: str, subject: str, limit: int) -> list[Ranked]:
    """Return the best passages, best first; where the question has no telling words, `subject` is the question."""
    if not question_words(question):
        question, subject = subject, ""
    counts = count_words(connection, question)
    scores = rows.best(connection, _query(question, counts), CANDIDATES)
    for one, score in _scores_of(connection, subject).items():
        if one in scores:
            scores[one] += HELP * score
    held = {word: rows.holding(connection, word, scores) for word, found in counts.found.items() if found}
    return rank(scores, held, counts, rows.paths(connection, scores), question=question, limit=limit)


def similar(connection: sqlite3.Connection, text: str, limit: int) -> list[Ranked]:
    """Return the passages that share most with a text, whatever kind of file they lie in, best first."""
    scores = _scores_of(connection, text)
    paths = rows.paths(connection, scores)
    return [Ranked(one, score) for one, score in scores.items() if one in paths][:limit]


def count_words(connection: sqlite3.Connection, question: str) -> WordCounts:
    """Return how many passages hold each word of a question, COMMON where there are more."""
    found = {word: rows.count_matches(connection, word, COMMON) for word in question_words(question)}
    return WordCounts(rows.count_passages(connection), found)


def _scores_of(connection: sqlite3.Connection, text: str) -> dict[int, float]:
    return rows.best(connection, _query(text, count_words(connection, text)), CANDIDATES) if text else {}


def _query(question: str, counts: WordCounts) -> str:
    """Return the words and phrases to look for as one query; empty where there is nothing to look for."""
    rarest = sorted((word for word, count in counts.found.items() if count), key=counts.found.__getitem__)
    chosen = [word for at, word in enumerate(rarest) if at < MIN_WORDS or counts.found[word] < COMMON]
    return any_of([*chosen, *(question_phrases(question) if chosen else ())])
