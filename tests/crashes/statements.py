"""What a statement does, in the words of tests/crashes/victim.py: one pattern names a step over both engines."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from bot.adapters.storage.files.file_documents import FILES
from tests.crashes.victim import Moment

_PUTS: Final = re.compile(r"\s*(INSERT INTO|UPDATE) triage_documents\b")
_MOVES: Final = re.compile(r"\s*WITH gone AS \(\s*DELETE FROM triage_documents.*INSERT INTO triage_archive", re.DOTALL)
_DELETES: Final = re.compile(r"\s*DELETE FROM triage_documents\b")
_APPENDS: Final = re.compile(r"SELECT triage_(?:append|take)\(")
_JOBS: Final = (
    ("procrastinate_defer_jobs", 'rename queue/.tmp-job -> queue/user_job\n"attempts": 0'),
    ("procrastinate_retry_job", "rename queue/running/user_job -> queue/user_job"),
    ("procrastinate_finish_job", "remove queue/running/user_job"),
    ("SET status = 'doing'", "rename queue/user_job -> queue/running/user_job"),
)


def described(sql: str, values: list[str]) -> str | None:
    """Return a statement of the bot's in words, None where it is none of those that change its state.

    >>> described("DELETE FROM triage_documents WHERE namespace = $1", ["triage", "threads", "T1.C1.1", "3"])
    'remove state/T1.C1.1.json'
    >>> described("SELECT triage_append($1, $2, $3::json, $4)", ["triage", "replies", "{}", "{}"])
    'append replies.ndjson'
    """
    if put := _PUTS.match(sql):
        content, place = (values[-1], values[1:3]) if put[1] == "INSERT INTO" else (values[0], values[2:4])
        return f"rename {_path(*place)} -> {_path(*place)}\n{json.dumps(json.loads(content), ensure_ascii=False)}"
    if _MOVES.match(sql):
        return f"rename {_path(*values[1:3])} -> closed/{values[2]}"
    if _DELETES.match(sql):
        return f"remove {_path(*values[1:3])}"
    if _APPENDS.match(sql):
        return f"append {values[1]}.ndjson"
    return next((words for part, words in _JOBS if part in sql), None)


def _path(collection: str, doc_id: str) -> str:
    return FILES.get(collection, f"{collection}/*").replace("*", doc_id)


@dataclass
class Trap:
    """Does `deed` at a moment, once."""

    moment: Moment
    deed: Callable[[], object]
    met: int = 0

    def is_met(self, what: str | None) -> bool:
        """Whether this is the statement of the moment."""
        if what is None or not re.compile(self.moment.pattern, re.DOTALL).match(what):
            return False
        self.met += 1
        return self.met == self.moment.nth


@dataclass
class Statements:
    """The statements of one connection, read from the messages that go to the server."""

    prepared: dict[bytes, str] = field(default_factory=dict)

    def read(self, kind: bytes, body: bytes) -> str | None:
        """Return what the message has the server do, in words."""
        if kind == b"P":
            name, sql, _ = body.split(b"\0", 2)
            self.prepared[name] = sql.decode()
        if kind == b"Q":  # what has no parameters: BEGIN, COMMIT
            return body.rstrip(b"\0").decode()
        if kind != b"B":
            return None
        _, name, rest = body.split(b"\0", 2)
        return described(self.prepared[name], _values(rest))


def _values(rest: bytes) -> list[str]:
    """Return the parameters of a Bind message: formats, then each value behind its length, -1 for null."""
    at = 2 + 2 * struct.unpack_from("!H", rest)[0]
    count, at, values = struct.unpack_from("!H", rest, at)[0], at + 2, list[str]()
    for _ in range(count):
        length = struct.unpack_from("!i", rest, at)[0]
        at += 4
        values.append(rest[at : at + max(length, 0)].decode(errors="replace"))
        at += max(length, 0)
    return values
