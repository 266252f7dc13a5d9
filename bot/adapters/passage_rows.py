"""The rows of the passage index: what is stored for a file, and what is asked of them.

Every function works inside the transaction of the connection it is given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from bot.adapters.passage_files import StoredFile

COLUMN_WEIGHTS = "4.0, 3.0, 1.0, 0.7"  # names, path, body, parts


def commit_of(connection: sqlite3.Connection) -> str | None:
    """Return the commit the rows are of, or None while they are of none."""
    row = connection.execute("SELECT value FROM state WHERE name = 'commit'").fetchone()
    return row[0] if row else None


def set_commit(connection: sqlite3.Connection, commit: str | None) -> None:
    """Say which commit the rows are of; None before they change in more than one transaction."""
    connection.execute("INSERT OR REPLACE INTO state VALUES ('commit', ?)", (commit,))


def blobs(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the blob id of every known file by its path."""
    return dict(connection.execute("SELECT path, blob FROM file"))


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many files are found and how many skipped."""
    found, skipped = connection.execute("SELECT count(*) - sum(skipped), sum(skipped) FROM file").fetchone()
    return found or 0, skipped or 0


def put_file(connection: sqlite3.Connection, file: StoredFile) -> None:
    """Store a file's passages in place of those it had."""
    forget(connection, file.path)
    connection.execute("INSERT INTO file VALUES (?, ?, ?)", (file.path, file.blob, file.skipped))
    for one in file.passages:
        place = connection.execute(
            "INSERT INTO passage (path, start, end) VALUES (?, ?, ?)", (file.path, one.start, one.end)
        )
        connection.execute(
            "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
            (place.lastrowid, one.names, file.path, one.text, one.parts),
        )


def forget(connection: sqlite3.Connection, path: str) -> None:
    """Remove a file and its passages."""
    connection.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE path = ?)", (path,))
    connection.execute("DELETE FROM passage WHERE path = ?", (path,))
    connection.execute("DELETE FROM file WHERE path = ?", (path,))


def count_passages(connection: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(connection.execute("SELECT count(*) FROM passage").fetchone()[0])


def count_matches(connection: sqlite3.Connection, words: Sequence[str]) -> int:
    """Return in how many passages the words stand in sequence."""
    return int(connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (_phrase(words),)).fetchone()[0])


def match(connection: sqlite3.Connection, words: Sequence[str]) -> dict[int, float]:
    """Return the BM25 score of every passage in which the words stand in sequence."""
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {COLUMN_WEIGHTS}) FROM words WHERE words MATCH ?",  # noqa: S608 - constants only
        (_phrase(words),),
    )
    return dict(rows)


def paths(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, str]:
    """Return the path of each passage."""
    return {
        passage: connection.execute("SELECT path FROM passage WHERE id = ?", (passage,)).fetchone()[0]
        for passage in passages
    }


def place(connection: sqlite3.Connection, passage: int) -> tuple[str, int, int, str]:
    """Return the path, first line, last line and text of a passage."""
    row = connection.execute(
        "SELECT passage.path, start, end, body FROM passage JOIN words ON words.rowid = id WHERE id = ?", (passage,)
    )
    path, start, end, text = row.fetchone()
    return path, start, end, text


def _phrase(words: Sequence[str]) -> str:
    """Return an FTS5 string: inside quotes nothing is syntax but the quote itself."""
    return '"' + " ".join(words).replace('"', '""') + '"'
