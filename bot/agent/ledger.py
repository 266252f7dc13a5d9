"""What a run has really read: the proof behind every citation.

Tools write it, the code checks read it. A model never does either. Lines are 1-based and inclusive.
"""

from __future__ import annotations

import hashlib
from typing import Self

from pydantic import BaseModel, ConfigDict

MEMORY_TOOL = "search_memory"
"""The tool whose records are no queries but the refs of what came up."""
FAILED = "failed: "
"""How the record of a query begins that got no answer."""


class ReadEntry(BaseModel):
    """One range of lines of one file, as it was at `commit`, with the SHA-256 of the text shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    start: int
    end: int
    commit: str
    content_hash: str


class QueryEntry(BaseModel):
    """One tool call that is not a file read: a log query, a git or a memory search."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    query: str


class Ledger(BaseModel):
    """The append-only record of one run; saved with its trace as JSON."""

    model_config = ConfigDict(extra="forbid")

    reads: list[ReadEntry] = []
    queries: list[QueryEntry] = []

    def record_read(self, path: str, start: int, end: int, *, commit: str, text: str) -> Self:
        """Note that lines `start`..`end` of `path` at `commit` were shown as `text`."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.reads.append(ReadEntry(path=path, start=start, end=end, commit=commit, content_hash=digest))
        return self

    def record_query(self, tool: str, query: str) -> Self:
        """Note that `tool` was asked `query`."""
        self.queries.append(QueryEntry(tool=tool, query=query))
        return self

    def covers(self, path: str, start: int, end: int, *, commit: str | None = None) -> bool:
        """Whether every line of `start`..`end` was read in this run (at `commit`, when one is given)."""
        unread = set(range(start, end + 1))
        for read in self.reads:
            if read.path == path and commit in (None, read.commit):
                unread.difference_update(range(read.start, read.end + 1))
        return not unread

    def has_query(self, query: str) -> bool:
        """Whether exactly this query was answered (white space at the ends aside); a failed one proves nothing."""
        return any(e.query.strip() == query.strip() for e in self.answered() if e.tool != MEMORY_TOOL)

    def came_up(self, ref: str) -> bool:
        """Whether a search of memory brought up this note or reply; what some other tool was asked is no proof."""
        return QueryEntry(tool=MEMORY_TOOL, query=ref) in self.queries

    def answered(self) -> list[QueryEntry]:
        """Return the queries that got an answer."""
        return [entry for entry in self.queries if not entry.query.startswith(FAILED)]
