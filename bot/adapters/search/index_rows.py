"""What the index's tables hold, and how a file or a commit message gets in.

A file is skipped for its path (secrets, generated), its size, or its content (binary, minified). Credentials are
blacked out once, before anything is stored. The text of a passage is not stored but read from git again, with the lines
in place that were changed for it; so is that of a commit message. The full-text tables hold only words and their rows
are never deleted: an id whose file is gone is ignored. Every function works inside the connection's open transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from bot.agent.git.git_history import Commit
from bot.agent.git.git_repo import EntryKind, TreeEntry
from bot.agent.git.lfs import is_pointer
from bot.domain.search.definitions import definitions_in
from bot.domain.search.files import file_lines, is_indexed, is_prose, may_hold_text
from bot.domain.search.passages import GAP_WORDS, Chunk, IndexGaps, split_into_chunks
from bot.domain.search.tokens import extra_words
from bot.domain.secrets import redact_lines

MAX_FILE_BYTES: Final = 1_000_000
MAX_LINE_CHARS: Final = 2_000
MAX_MESSAGE_CHARS: Final = 1_000
"""Of a longer message the whole lines up to there; what follows is mostly a discussion that was copied."""

FILE_BITS: Final = 20
"""Bits of the id of a passage or definition for its number or line; the file's id stands above them."""

# `file.state`: waiting, searched or skipped, or the gap that it is. hashsize: the bytes of words that FTS5 holds before
# it writes them; automerge: the parts of the tables that it lets be. Its own choice of 1 MiB and 4 costs more merging.
SCHEMA: Final = """
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE file (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE NOT NULL, blob TEXT NOT NULL, size INTEGER NOT NULL,
    state TEXT NOT NULL, changed TEXT NOT NULL DEFAULT '{}', passages INTEGER NOT NULL DEFAULT 0, spans TEXT
);
CREATE INDEX file_state ON file (state);
CREATE VIRTUAL TABLE words USING fts5 (names, path, body, parts, tokenize = 'porter unicode61', content = '');
INSERT INTO words (words, rank) VALUES ('hashsize', 16777216), ('automerge', 16);
CREATE TABLE definition (
    name TEXT COLLATE NOCASE NOT NULL, id INTEGER NOT NULL, scope TEXT NOT NULL, kind INTEGER NOT NULL,
    last INTEGER NOT NULL, PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT UNIQUE COLLATE NOCASE NOT NULL);
CREATE VIRTUAL TABLE grams USING fts5 (text, tokenize = 'trigram', content = '');
CREATE TRIGGER name_grams AFTER INSERT ON name
BEGIN INSERT INTO grams (rowid, text) VALUES (new.id, ' ' || new.text || ' '); END;
CREATE TABLE made (id INTEGER PRIMARY KEY, sha BLOB NOT NULL, at INTEGER NOT NULL);
CREATE VIRTUAL TABLE message USING fts5 (subject, body, tokenize = 'porter unicode61', content = '');
"""


def state(connection: sqlite3.Connection, name: str) -> str | None:
    """Return what is known of the whole index: `commit` (None while it is not finished), `target`, `history`."""
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def set_state(connection: sqlite3.Connection, **values: str | None) -> None:
    """Keep what `state` returns."""
    connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", values.items())


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many files are in each state."""
    return dict(connection.execute("SELECT state, count(*) FROM file GROUP BY state"))


def gaps(connection: sqlite3.Connection) -> IndexGaps:
    """Return which files are not searched, those among them that are still to be indexed."""
    query = "SELECT path FROM file WHERE state = ? ORDER BY path"
    lists = {kind: tuple(path for (path,) in connection.execute(query, (kind,))) for kind in GAP_WORDS}
    whole = state(connection, "commit")
    if whole is not None and whole != state(connection, "history"):
        lists["history"] = (whole[:10],)
    files = counts(connection)
    waiting = files.get("waiting", 0)
    return IndexGaps(**lists, waiting=waiting, total=sum(files.values()) if waiting else 0)


def first_state(entry: TreeEntry) -> str:
    """Return the state of a file or submodule of which only the name and size are known."""
    if entry.kind is EntryKind.SUBMODULE:
        return "submodules"
    if entry.is_missing or is_oversized(entry):
        gap = "unreadable" if entry.is_missing else "oversized"
        return gap if may_hold_text(entry.path) else "skipped"
    return "waiting" if is_indexed(entry.path) and entry.size <= MAX_FILE_BYTES else "skipped"


def is_oversized(entry: TreeEntry) -> bool:
    """Whether a file that might hold an answer is not read because of its size alone."""
    return entry.size > MAX_FILE_BYTES and may_hold_text(entry.path)


def shown_lines(content: bytes, changed: str, secrets: Collection[str]) -> list[str]:
    """Return the lines of a file as they may be shown; `changed` is what the index says of the file."""
    lines, other = _text_lines(content, secrets), json.loads(changed)
    return [other.get(str(at), line) for at, line in enumerate(lines)] if other else lines


def _text_lines(content: bytes, secrets: Collection[str]) -> list[str]:
    """Return the lines of a text a human wrote: not most of it in long lines, though it may hold one.

    None of a file that holds one of `secrets`, the process's own.
    """
    if len(content) > MAX_FILE_BYTES or any(secret.encode() in content for secret in secrets):
        return []
    lines = file_lines(content) or []
    in_long = sum(len(line) for line in lines if len(line) > MAX_LINE_CHARS)
    return lines if 2 * in_long <= sum(map(len, lines)) else []


def put_file(
    connection: sqlite3.Connection, file: int, path: str, content: bytes | None, secrets: Collection[str]
) -> None:
    """Store what a waiting file holds; of one that cannot be read, or whose text is elsewhere, only that."""
    gap = "unreadable" if content is None else "lfs" if is_pointer(content) else None
    found = [] if gap or content is None else _text_lines(content, secrets)
    became = gap if gap and may_hold_text(path) else "searched" if found or content == b"" else "skipped"
    shown = redact_lines(found)
    lines = [line if len(line) <= MAX_LINE_CHARS else "" for line in shown]
    defined = definitions_in(path, lines)
    chunks = split_into_chunks(lines, defined, prose=is_prose(path))
    changed = {at: text for at, text in enumerate(shown) if text != found[at]}
    connection.execute(
        "UPDATE file SET state = ?, changed = ?, passages = ?, spans = ? WHERE id = ?",
        (became, json.dumps(changed), len(chunks), json.dumps([(one.start, one.end) for one in chunks]), file),
    )
    connection.executemany(
        "INSERT INTO words (rowid, names, path, body, parts) VALUES (?, ?, ?, ?, ?)",
        [((file << FILE_BITS) + at, *_searched(path, lines, one)) for at, one in enumerate(chunks)],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?, ?)",
        [(one.name, (file << FILE_BITS) + one.line, one.scope, one.kind, one.end) for one in defined],
    )
    names = dict.fromkeys(one.name for one in defined)
    connection.executemany("INSERT OR IGNORE INTO name (text) VALUES (?)", zip(names, strict=True))


def _searched(path: str, lines: Sequence[str], one: Chunk) -> tuple[str, str, str, str]:
    """Return what a passage is found by: what it defines, its path, its text; parts of names and what encloses it."""
    text = "\n".join(lines[one.start - 1 : one.end])
    parts = f"{extra_words(text)} {_with_parts(' '.join(one.scope))}"
    return _with_parts(" ".join(one.names)), path, text, parts


@lru_cache(maxsize=4096)  # what encloses one passage encloses others
def _with_parts(names: str) -> str:
    return f"{names} {extra_words(names)}"


def put_commits(connection: sqlite3.Connection, found: Iterable[Commit], known: Collection[str]) -> None:
    """Store what commits say, their newest first; as many at a time as credentials are looked for in at once."""
    while batch := list(islice(found, 50)):
        for one, message in zip(batch, shown_messages(batch, known), strict=True):
            row = connection.execute(
                "INSERT INTO made (sha, at) VALUES (?, ?)", (bytes.fromhex(one.sha), int(one.authored_at.timestamp()))
            )
            subject, _, body = message.partition("\n")
            words = f"{body}\n{extra_words(message)}"
            connection.execute(
                "INSERT INTO message (rowid, subject, body) VALUES (?, ?, ?)", (row.lastrowid, subject, words)
            )


def shown_messages(found: Iterable[Commit], known: Collection[str]) -> list[str]:
    """Return what commits say as it may be shown, each cut at MAX_MESSAGE_CHARS."""
    texts = [_whole_lines(one.message) for one in found]
    shown = iter(redact_lines([line for text in texts for line in text], known))
    return ["\n".join(islice(shown, len(text))) for text in texts]


def _whole_lines(message: str) -> list[str]:
    """Return the lines of a message up to MAX_MESSAGE_CHARS; half a line might hold half a credential."""
    lines = message[: MAX_MESSAGE_CHARS + 1].split("\n")
    return lines if len(message) <= MAX_MESSAGE_CHARS else lines[:-1]


def forget_commits(connection: sqlite3.Connection) -> None:
    """Remove every commit."""
    connection.execute("DELETE FROM made")
    connection.execute("INSERT INTO message (message) VALUES ('delete-all')")
