"""What is asked of the index's tables: passages, names, commits.

One query of FTS5 chooses the passages that are ranked. Words that many passages hold choose none of them while there
are others, so that a question costs about the same however large the codebase is. Every function works inside the
connection's open transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from bot.adapters.search.passage_store import FILE_BITS
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.tokens import (
    Ranked,
    WordCounts,
    question_phrases,
    question_words,
    rank,
    slips,
    slips_allowed,
    trigrams,
)

CANDIDATES: Final = 200
HELP: Final = 0.5
"""What the words of what was asked before add."""

COMMON: Final = 20_000
"""A word that so many passages hold is common; they are counted no further."""

MIN_WORDS: Final = 3
"""So many words are looked for however common they are, the rarest ones."""

MAX_DEFINITIONS: Final = 2_000
LOOKED_AT: Final = 300
"""So many near names are compared."""

_COLUMN_WEIGHTS: Final = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts
_NUMBER: Final = (1 << FILE_BITS) - 1


class Place(NamedTuple):
    """Where a passage stands: lines `start` to `end` of a blob, `changed` as `shown_lines` takes it."""

    path: str
    blob: str
    changed: str
    start: int
    end: int


def find(connection: sqlite3.Connection, question: str, subject: str, limit: int) -> list[Ranked]:
    """Return the best passages, best first; where the question has no telling words, `subject` is the question."""
    if not question_words(question):
        question, subject = subject, ""
    counts = count_words(connection, question)
    scores = _scores(connection, question, counts)
    for one, score in _scores(connection, subject).items():
        if one in scores:
            scores[one] += HELP * score
    held = {word: _holding(connection, word, scores) for word, found in counts.found.items() if found}
    return rank(scores, held, counts, _paths(connection, scores), question=question, limit=limit)


def similar(connection: sqlite3.Connection, text: str, limit: int) -> list[Ranked]:
    """Return the passages that share most with a text, whatever kind of file they lie in, best first."""
    scores = _scores(connection, text)
    return [Ranked(one, scores[one]) for one in _paths(connection, scores)][:limit]


def count_words(connection: sqlite3.Connection, question: str) -> WordCounts:
    """Return how many passages hold each word of a question, COMMON where there are more."""
    query = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    words = question_words(question)
    found = {word: connection.execute(query, (_phrase(word), COMMON)).fetchone()[0] for word in words}
    return WordCounts(int(connection.execute("SELECT total(passages) FROM file").fetchone()[0]), found)


def _scores(connection: sqlite3.Connection, text: str, counts: WordCounts | None = None) -> dict[int, float]:
    """Return the passages that hold words and phrases of a text best, by BM25, best first."""
    found = (counts or count_words(connection, text)).found
    rarest = sorted((word for word, count in found.items() if count), key=found.__getitem__)
    chosen = [word for at, word in enumerate(rarest) if at < MIN_WORDS or found[word] < COMMON]
    if not chosen:
        return {}
    return dict(
        connection.execute(
            "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rank MATCH ?"
            " AND EXISTS (SELECT 1 FROM file WHERE id = words.rowid >> ?) ORDER BY rank LIMIT ?",
            (_any_of([*chosen, *question_phrases(text)]), f"bm25({_COLUMN_WEIGHTS})", FILE_BITS, CANDIDATES),
        )
    )


def _holding(connection: sqlite3.Connection, word: str, passages: Iterable[int]) -> frozenset[int]:
    """Return those of some passages that hold a word.

    All that hold it are gone through; the sign keeps SQLite from looking each passage up, which takes longer.
    """
    asked = list(passages)
    found = connection.execute(
        f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({','.join('?' * len(asked))})",  # noqa: S608
        (_phrase(word), *asked),
    )
    return frozenset(passage for (passage,) in found)


def _paths(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, str]:
    """Return the path of each passage, in the same order."""
    query = "SELECT path FROM file WHERE id = ?"
    return {one: connection.execute(query, (one >> FILE_BITS,)).fetchone()[0] for one in passages}


def place(connection: sqlite3.Connection, passage: int) -> Place:
    """Return where a passage stands."""
    query = "SELECT path, blob, changed, spans FROM file WHERE id = ?"
    *found, spans = connection.execute(query, (passage >> FILE_BITS,)).fetchone()
    return Place(*found, *json.loads(spans)[passage & _NUMBER])


def file_at(connection: sqlite3.Connection, path: str) -> Place | None:
    """Return a searched file as one place; None where there is none."""
    query = "SELECT path, blob, changed, 1, 0 FROM file WHERE path = ? AND state = 'searched'"
    found = connection.execute(query, (path,)).fetchone()
    return Place(*found) if found else None


def definitions(connection: sqlite3.Connection, name: str) -> list[Definition]:
    """Return the first MAX_DEFINITIONS definitions of a name, however it is capitalised, in the order of the index."""
    found = connection.execute(
        "SELECT name, scope, path, definition.id & ?, last, kind FROM definition"
        " JOIN file ON file.id = definition.id >> ? WHERE name = ? COLLATE NOCASE ORDER BY definition.id LIMIT ?",
        (_NUMBER, FILE_BITS, name, MAX_DEFINITIONS),
    )
    return [
        Definition(known, scope, path, line, end, DefinitionKind(kind)) for known, scope, path, line, end, kind in found
    ]


def commits(connection: sqlite3.Connection, words: str, limit: int) -> dict[str, float]:
    """Return the commits whose messages hold the words of a question, best first, the newer of two alike."""
    found = connection.execute(
        "SELECT sha, -rank FROM message JOIN made ON made.id = message.rowid"
        " WHERE message MATCH ? AND rank MATCH 'bm25(2.0, 1.0)' ORDER BY rank, at DESC LIMIT ?",
        (_any_of(question_words(words)), limit),
    )
    return {sha.hex(): score for sha, score in found}


def near_names(connection: sqlite3.Connection, name: str, limit: int) -> list[str]:
    """Return the names of the index that are nearest to a word: one slip away, or of a long one two."""
    allowed = slips_allowed(name)
    found = connection.execute(
        "SELECT text FROM name WHERE id IN (SELECT rowid FROM grams WHERE grams MATCH ? ORDER BY rank LIMIT ?)",
        (_any_of(trigrams(name) if allowed else ()), LOOKED_AT),
    )
    far = [(slips(name.lower(), text.lower(), allowed), text) for (text,) in found]
    near = [(count, text) for count, text in far if 0 < count <= allowed and definitions(connection, text)]
    least = min((count for count, _ in near), default=0)
    return sorted(text for count, text in near if count == least)[:limit]


def names_holding(connection: sqlite3.Connection, words: Sequence[str], limit: int) -> list[str]:
    """Return the names of the index that hold some of the words, of three letters at least, best first."""
    found = connection.execute(
        "SELECT name.text FROM grams JOIN name ON name.id = grams.rowid WHERE grams MATCH ? ORDER BY rank LIMIT ?",
        (_any_of([word for word in words if len(word) > 2]), limit),
    )
    return [text for (text,) in found]


def places_called(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the searched files a name means (a path, its end, a file name without its ending), then the folders.

    A folder ends in a slash; each kind is in the order of the paths.
    """
    end = f"/{name.strip('/').lower()}"
    found = connection.execute(
        "SELECT path, '/' || lower(path) AS low FROM file WHERE state = 'searched' AND instr(low, ?) ORDER BY path",
        (end,),
    ).fetchall()
    files = [path for path, low in found if low.endswith(end) or low.rpartition(".")[0].endswith(end)]
    folders = (path[: at + len(end)] for path, low in found if (at := low.find(f"{end}/")) >= 0)
    return [*files, *dict.fromkeys(folders)]


def _phrase(words: str) -> str:
    """Return an FTS5 string: inside quotes nothing is syntax but the quote itself."""
    return '"' + words.replace('"', '""') + '"'


def _any_of(words: Sequence[str]) -> str:
    """Return the query of FTS5 that finds any of some words, of none nothing."""
    return " OR ".join(map(_phrase, words)) or '""'
