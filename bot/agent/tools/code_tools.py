"""What a model may do with the codebase: read, list, search and look back; never write, never run.

A toolset is bound to one ledger and to the commit that was HEAD when it was made, so that what was read is what quotes
are checked against; every call stands in the ledger, answered or not. It serves one run, in one thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, TypeVar

from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import FAILED, MEMORY_TOOL, Ledger
from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.agent.tools.repository_tools import (
    GitBlame,
    GitLog,
    GitShow,
    ListFiles,
    ReadFile,
    git_blame,
    git_log,
    git_show,
    list_files,
    read_file_tool,
)
from bot.agent.tools.search_tools import CodeSearch, MemorySearch, SearchCode, SearchMemory
from bot.agent.tools.snapshot import Snapshot
from bot.errors import ProviderError, StoreError
from bot.ports import NoteIndex, NoteStore, PassageIndex

_log = logging.getLogger(__name__)
_A = TypeVar("_A", bound=Arguments)


def recorded_tool(
    name: str,
    description: str,
    arguments: type[_A],
    answer: Callable[[_A], str],
    ledger: Ledger,
    *,
    reads: bool = False,
) -> Tool:
    """Return a tool whose calls are recorded; one that `reads` lines records those itself, if the call succeeds."""

    def call(given: Any) -> str:
        asked = given.model_dump_json(exclude_defaults=True)
        try:
            text = answer(given)
        except ToolProblem:
            ledger.record_query(name, FAILED + asked, is_answered=False)
            raise
        except (ProviderError, StoreError) as error:
            _log.warning("A tool could not answer", extra={"action": "tool_failed", "tool": name, "why": str(error)})
            ledger.record_query(name, FAILED + asked, is_answered=False)
            raise ToolProblem(f"{name} failed; narrow the call or use another tool") from error
        if not reads:
            ledger.record_query(name, asked)
        return text

    return Tool(name=name, description=description, call=call, arguments=arguments)


READ = (
    "Read numbered lines of a committed file. Quote whole lines, without their number. Cite them as path:start-end."
    " Only lines shown by this tool count as read."
)
LIST = "List a folder of the codebase, or all files whose path fits a pattern."
SEARCH = (
    "Search the codebase for an exact text and for the passages nearest to words. Shows numbered lines; what you"
    " cite of them must be read with read_file."
)
LOG = "List commits, newest first: of a path, by words of the message, or by a text they add or remove."
SHOW = "Show a commit: its message, the files it changed and its diff. Cite its id, quote whole lines of the message."
BLAME = "Show which commit last changed each line of a file."
MEMORY = "Search approved notes, earlier replies and lessons from drafts. Cite the ref shown; heed a line `caution:`."


def code_tools(
    repo: GitRepo,
    index: PassageIndex,
    memory: NoteIndex,
    notes: NoteStore,
    ledger: Ledger,
    *,
    known_secrets: Collection[str] = (),
) -> list[Tool]:
    """Return the investigator's tools over HEAD of `repo`, recording in `ledger`; none shows a known secret.

    Raises:
        ConfigError: `repo` has no commit.
    """
    see = Snapshot(repo, repo.head(), ledger, known_secrets)
    return [
        recorded_tool("search_code", SEARCH, SearchCode, CodeSearch(see, index), ledger),
        _read_file(see),
        *_looking_tools(see),
        recorded_tool(MEMORY_TOOL, MEMORY, SearchMemory, MemorySearch(see, memory, notes), ledger),
    ]


def repository_tools(repo: GitRepo, ledger: Ledger, *, known_secrets: Collection[str] = ()) -> list[Tool]:
    """Return what reads HEAD of any checkout, without an index; raises ConfigError if `repo` has no commit."""
    see = Snapshot(repo, repo.head(), ledger, known_secrets)
    return [_read_file(see), *_looking_tools(see)]


def reading_tools(
    repo: GitRepo, ledger: Ledger, *, commit: str | None = None, known_secrets: Collection[str] = ()
) -> list[Tool]:
    """Return the validator's only tool, read_file, at `commit` or HEAD; raises ConfigError if `repo` has no commit."""
    return [_read_file(Snapshot(repo, commit or repo.head(), ledger, known_secrets))]


def _looking_tools(see: Snapshot) -> list[Tool]:
    return [
        recorded_tool("list_files", LIST, ListFiles, partial(list_files, see), see.ledger),
        recorded_tool("git_log", LOG, GitLog, partial(git_log, see), see.ledger),
        recorded_tool("git_show", SHOW, GitShow, partial(git_show, see), see.ledger),
        recorded_tool("git_blame", BLAME, GitBlame, partial(git_blame, see), see.ledger),
    ]


def _read_file(see: Snapshot) -> Tool:
    return recorded_tool("read_file", READ, ReadFile, partial(read_file_tool, see), see.ledger, reads=True)
