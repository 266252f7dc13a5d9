"""The commits of the index: what their messages say, found by its words.

Those reachable from HEAD, the newest MAX_COMMITS; every message is looked through for credentials once, when it is
stored. A later HEAD adds its own; one that does not follow the last begins anew. Every function works inside the
connection's open transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from bot.adapters.search.name_rows import any_of
from bot.agent.git.git_history import GitHistory, Message
from bot.agent.git.git_repo import GitRepo
from bot.domain.search.passages import CommitHit
from bot.domain.search.tokens import extra_words, question_words
from bot.domain.secrets import redact_lines

MAX_COMMITS: Final = 50_000
MAX_BODY_CHARS: Final = 1_000
"""Of a longer message the whole lines up to there; what follows is mostly a discussion that was copied."""

_BATCH: Final = 50

SCHEMA: Final = """
CREATE TABLE made (
    id INTEGER PRIMARY KEY, sha BLOB NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, subject TEXT NOT NULL
);
CREATE VIRTUAL TABLE message USING fts5 (subject, body, tokenize = 'porter unicode61', content = '');
"""


def add_commits(
    connection: sqlite3.Connection, repo: GitRepo, old: str | None, new: str, known: Collection[str]
) -> None:
    """Store the commits of `new` beside those of `old`, which are stored, or in their place where `new` lacks them.

    Raises:
        ProviderError: git cannot list them; what was stored before is then to be forgotten.
    """
    follows = old is not None and repo.resolve_in(new, old) is not None
    if not follows:
        forget_commits(connection)
    commits = GitHistory(repo).messages(new, since=old if follows else None, limit=MAX_COMMITS)
    while batch := list(islice(commits, _BATCH)):
        _put(connection, batch, known)


def forget_commits(connection: sqlite3.Connection) -> None:
    """Remove every commit."""
    connection.execute("DELETE FROM made")
    connection.execute("INSERT INTO message (message) VALUES ('delete-all')")


def _put(connection: sqlite3.Connection, batch: Sequence[Message], known: Collection[str]) -> None:
    texts = [[one.subject, *_whole_lines(one.body)] for one in batch]
    shown = iter(redact_lines([line for text in texts for line in text], known))
    for one, text in zip(batch, texts, strict=True):
        subject, *body = islice(shown, len(text))
        words = "\n".join([*body, extra_words(" ".join([subject, *body]))])
        row = connection.execute(
            "INSERT INTO made (sha, author, at, subject) VALUES (?, ?, ?, ?)",
            (bytes.fromhex(one.sha), one.author, one.authored_at.isoformat(), subject),
        )
        connection.execute(
            "INSERT INTO message (rowid, subject, body) VALUES (?, ?, ?)", (row.lastrowid, subject, words)
        )


def _whole_lines(body: str) -> list[str]:
    """Return the lines of a message up to MAX_BODY_CHARS; half a line might hold half a credential."""
    lines = body[: MAX_BODY_CHARS + 1].split("\n")
    return lines if len(body) <= MAX_BODY_CHARS else lines[:-1]


def commits(connection: sqlite3.Connection, words: str, limit: int) -> list[CommitHit]:
    """Return the commits whose messages hold the words of a question, best first; of two alike the newer one."""
    asked = question_words(words)
    if not asked:
        return []
    found = connection.execute(
        "SELECT sha, author, at, made.subject, -rank FROM message JOIN made ON made.id = message.rowid"
        " WHERE message MATCH ? AND rank MATCH 'bm25(2.0, 1.0)' ORDER BY rank, at DESC LIMIT ?",
        (any_of(asked), limit),
    )
    return [
        CommitHit(id=sha.hex(), author=author, authored_at=datetime.fromisoformat(at), subject=subject, score=score)
        for sha, author, at, subject, score in found
    ]
