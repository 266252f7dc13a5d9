"""The ledger of a run: what its tools have read and asked, and got as an answer.

Tools write it, code checks read it. It is saved with the trace of the run, because later checks of the run's citations
rest on it. Whether lines were read is decided by comparing ranges: no number from a citation sizes anything.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MEMORY_TOOL = "search_memory"
"""The tool whose records are no queries but the refs of what came up."""

FAILED = "failed: "
"""How the record of a query begins that got no answer; older records say it by this alone."""

READ_TOOL = "read_file"
"""The tool whose answers are cited by the path of the file."""

OWN_TOOLS = frozenset({"search_code", READ_TOOL, "list_files", "git_log", "git_show", "git_blame", MEMORY_TOOL})
"""The tools over the codebase and the notes; what they were asked is no query of a log."""

MAX_RESULT_CHARS: Final = 30_000
"""Of one result that is kept; no tool shows more at once."""


class ReadEntry(BaseModel):
    """One range of lines of one file, as it was at `commit`, with the SHA-256 of the text shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    start: int
    end: int
    commit: str
    content_hash: str


class QueryEntry(BaseModel):
    """One tool call, or with neither number nor result something that a call brought up: a commit, a note.

    `call` is the number under which its result is cited, from 1; records of earlier releases have none. `result` is
    what was shown; of a file that was read it is not kept, since its lines are cited by their path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    query: str
    result: str | None = None
    is_answered: Annotated[bool, Field(exclude_if=bool)] = True
    """Whether it got an answer; one that failed proves nothing."""
    call: Annotated[int | None, Field(exclude_if=lambda call: call is None)] = None

    @model_validator(mode="before")
    @classmethod
    def _read_old_failure(cls, data: Any) -> Any:
        is_old = isinstance(data, dict) and "is_answered" not in data
        return {**data, "is_answered": False} if is_old and str(data.get("query")).startswith(FAILED) else data


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

    def record_query(self, tool: str, query: str, result: str | None = None, *, is_answered: bool = True) -> Self:
        """Note a call as `record_call` does."""
        self.record_call(tool, query, result, is_answered=is_answered)
        return self

    def record_call(self, tool: str, query: str, result: str | None = None, *, is_answered: bool = True) -> int:
        """Note that `tool` was asked `query` and what it answered; return the number under which that is cited."""
        kept = result if result is None else result[:MAX_RESULT_CHARS]
        number = max((entry.call or 0 for entry in self.queries), default=0) + 1
        self.queries.append(QueryEntry(tool=tool, query=query, result=kept, is_answered=is_answered, call=number))
        return number

    def note_answer(self, tool: str, asked: str, text: str) -> str:
        """Note an answered call; return its result as it is shown, each line behind the number by which it is cited.

        A file that was read is cited by its path: its text is shown as it is, and not kept.
        """
        if tool == READ_TOOL:
            self.record_query(tool, asked)
            return text
        number = self.record_call(tool, asked, text)
        lines = (f"{at}: {line}" for at, line in enumerate(result_lines(text), 1))
        return "\n".join([f"call {number}, lines are cited as {number}:start-end", *lines])

    def note_failure(self, tool: str, asked: str) -> None:
        """Note a call that got no answer; it has a number, too."""
        self.record_query(tool, FAILED + asked, is_answered=False)

    def record_shown(self, tool: str, ref: str) -> Self:
        """Note that a call of `tool` brought up a commit, by its full id, or a note or reply, by its ref."""
        self.queries.append(QueryEntry(tool=tool, query=ref))
        return self

    def answer_of(self, call: int) -> QueryEntry | None:
        """Return the answered call of this number."""
        return next((entry for entry in self.answered() if entry.call == call), None)

    def covers(self, path: str, start: int, end: int, *, commit: str | None = None) -> bool:
        """Whether every line of `start`..`end` was read in this run (at `commit`, when one is given)."""
        reads = [read for read in self.reads if read.path == path and commit in (None, read.commit)]
        unread = start  # the first line that no range so far holds
        for read in sorted(reads, key=lambda read: read.start):
            if read.start <= unread:
                unread = max(unread, read.end + 1)
        return unread > end

    def asked_servers(self, query: str) -> list[QueryEntry]:
        """Return the answered calls of MCP servers with this query, by itself or as an argument among others.

        A search of the code is no such call.
        """
        entries = [entry for entry in self.answered() if entry.tool not in OWN_TOOLS]
        return [entry for entry in entries if query.strip() in (entry.query.strip(), *_arguments(entry.query))]

    def was_shown(self, commit: str) -> bool:
        """Whether `git_show` showed the commit of this full id."""
        return any((entry.tool, entry.query) == ("git_show", commit) for entry in self.answered())

    def came_up(self, ref: str) -> bool:
        """Whether a search of memory brought up this note or reply; what some other tool was asked is no proof."""
        return any((entry.tool, entry.query) == (MEMORY_TOOL, ref) for entry in self.answered())

    def answered(self) -> list[QueryEntry]:
        """Return the queries that got an answer."""
        return [entry for entry in self.queries if entry.is_answered]


def _arguments(query: str) -> list[str]:
    """Return the texts among the arguments of a call."""
    try:
        given = json.loads(query)
    except (ValueError, RecursionError):
        return []
    return [value.strip() for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []


def result_lines(result: str) -> list[str]:
    r"""Return the lines of a tool's result, as they are counted in citations.

    >>> result_lines("a\r\nb\n")
    ['a', 'b']
    """
    return result.replace("\r\n", "\n").removesuffix("\n").split("\n")
