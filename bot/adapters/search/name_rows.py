"""The tables of names: what files define and give a value to, and the names one slip away from a word.

Every function works inside the connection's open transaction. Rows of files that are gone stay until the index is
built anew, and no query returns them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from bot.domain.search.definitions import Defined, Definition, DefinitionKind
from bot.domain.search.files import path_weight
from bot.domain.search.settings import Assigned, Setting
from bot.domain.search.spelling import slips, slips_allowed, trigrams
from bot.domain.search.tokens import extra_words, question_words

MAX_DEFINITIONS: Final = 2_000
LOOKED_AT: Final = 300
"""So many settings and near names are compared; the best of them by their words."""

LINE_BITS: Final = 20
"""Bits of a definition's id for its line, of a setting's for its number; the file's number stands above them."""

SCHEMA: Final = """
CREATE TABLE definition (
    name TEXT COLLATE NOCASE NOT NULL, id INTEGER NOT NULL, scope TEXT NOT NULL, kind INTEGER NOT NULL,
    last INTEGER NOT NULL, PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE TABLE setting (id INTEGER PRIMARY KEY, name TEXT NOT NULL, scope TEXT NOT NULL, line INTEGER NOT NULL);
CREATE VIRTUAL TABLE set_words USING fts5 (name, scope, tokenize = 'porter unicode61', content = '');
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT UNIQUE COLLATE NOCASE NOT NULL);
CREATE VIRTUAL TABLE grams USING fts5 (text, tokenize = 'trigram', content = '');
CREATE TRIGGER name_grams AFTER INSERT ON name
BEGIN INSERT INTO grams (rowid, text) VALUES (new.id, ' ' || new.text || ' '); END;
"""


def put_names(
    connection: sqlite3.Connection, file: int, defined: Iterable[Defined], assigned: Iterable[Assigned]
) -> None:
    """Store what a file defines and gives a value to, by the file's number."""
    connection.executemany(
        "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?, ?)",
        [(one.name, (file << LINE_BITS) + one.line, one.scope, one.kind, one.end) for one in defined],
    )
    numbered = list(enumerate(assigned, file << LINE_BITS))
    connection.executemany(
        "INSERT INTO setting VALUES (?, ?, ?, ?)", [(at, one.name, one.scope, one.line) for at, one in numbered]
    )
    connection.executemany(
        "INSERT INTO set_words (rowid, name, scope) VALUES (?, ?, ?)",
        [(at, _with_parts(one.name), _with_parts(one.scope)) for at, one in numbered],
    )
    names = dict.fromkeys([*(one.name for one in defined), *(one.name for one in assigned)])
    connection.executemany("INSERT OR IGNORE INTO name (text) VALUES (?)", zip(names, strict=True))


@lru_cache(10_000)
def _with_parts(name: str) -> str:
    return f"{name} {extra_words(name)}"


def definitions(connection: sqlite3.Connection, name: str) -> list[Definition]:
    """Return the first MAX_DEFINITIONS definitions of a name, however it is capitalised, in the order of the index."""
    found = connection.execute(
        "SELECT definition.name, scope, kind, path, definition.id & ?, last FROM definition"
        " JOIN file ON file.id = definition.id >> ? WHERE definition.name = ? COLLATE NOCASE"
        " ORDER BY definition.id LIMIT ?",
        ((1 << LINE_BITS) - 1, LINE_BITS, name, MAX_DEFINITIONS),
    )
    return [
        Definition(name=known, scope=scope, path=path, line=line, end=end, kind=DefinitionKind(kind))
        for known, scope, kind, path, line, end in found
    ]


def settings(connection: sqlite3.Connection, words: str, limit: int) -> list[Setting]:
    """Return what is given a value and is called by the words of a question, best first.

    By how many of the words its name and scope hold and how rare these are, and by what kind of file it stands in.
    """
    asked = question_words(words)
    if not asked:
        return []
    found = connection.execute(
        "SELECT setting.name, setting.scope, path, line, -rank FROM set_words"
        " JOIN setting ON setting.id = set_words.rowid JOIN file ON file.id = setting.id >> ?"
        " WHERE set_words MATCH ? AND rank MATCH 'bm25(4.0, 1.0)' ORDER BY rank LIMIT ?",
        (LINE_BITS, any_of(asked), LOOKED_AT),
    )
    ranked = [
        (-score * path_weight(path, words), Setting(name=name, scope=scope, path=path, line=line))
        for name, scope, path, line, score in found
    ]
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])[:limit]]


def near_names(connection: sqlite3.Connection, name: str, limit: int) -> list[str]:
    """Return the names of the index that are nearest to a word: one slip away, or of a long one two."""
    allowed = slips_allowed(name)
    if not allowed:
        return []
    found = connection.execute(
        "SELECT text FROM name WHERE id IN (SELECT rowid FROM grams WHERE grams MATCH ? ORDER BY rank LIMIT ?)",
        (any_of(trigrams(name)), LOOKED_AT),
    )
    far = [(slips(name.lower(), text.lower(), allowed), text) for (text,) in found]
    near = [(count, text) for count, text in far if 0 < count <= allowed and _is_used(connection, text)]
    least = min((count for count, _ in near), default=0)
    return sorted(text for count, text in near if count == least)[:limit]


def _is_used(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a file that is not gone has a name."""
    found = connection.execute(
        "SELECT 1 FROM definition JOIN file ON file.id = definition.id >> ? WHERE definition.name = ? UNION ALL"
        " SELECT 1 FROM set_words JOIN setting ON setting.id = set_words.rowid"
        " JOIN file ON file.id = setting.id >> ? WHERE set_words MATCH ? AND setting.name = ? LIMIT 1",
        (LINE_BITS, name, LINE_BITS, phrase(name), name),
    )
    return found.fetchone() is not None


def places_called(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the searched files a name means (a path, its end, a file name without its ending), then the folders.

    A folder ends in a slash; each kind is in the order of the paths.
    """
    end = f"/{name.strip('/').lower()}"
    found = connection.execute(
        "SELECT path FROM file WHERE NOT skipped AND instr('/' || lower(path), ?) ORDER BY path", (end,)
    )
    paths = [path for (path,) in found]
    files = [path for path in paths if _is_called(f"/{path.lower()}", end)]
    folders = (
        path[: f"/{path.lower()}".find(f"{end}/") + len(end)] for path in paths if f"{end}/" in f"/{path.lower()}"
    )
    return [*files, *dict.fromkeys(folders)]


def _is_called(path: str, end: str) -> bool:
    return path.endswith(end) or path.rpartition(".")[0].endswith(end)


def phrase(words: str) -> str:
    """Return an FTS5 string: inside quotes nothing is syntax but the quote itself."""
    return '"' + words.replace('"', '""') + '"'


def any_of(words: Sequence[str]) -> str:
    """Return the query of FTS5 that finds any of some words."""
    return " OR ".join(map(phrase, words))
