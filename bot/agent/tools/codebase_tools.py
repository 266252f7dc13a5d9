"""The tools with which a model reads a team's codebases: read, list, search and history; nothing writes or runs.

A set of tools belongs to one run, in one thread: it is bound to a ledger, which records what was read, and to the
commits that were HEAD when it was made. With several codebases paths begin with the name of one (`shop:src/app.py`).
Only the team's own codebases can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.tools.base import (
    MAX_CHARS,
    Arguments,
    Snapshot,
    Tool,
    ToolProblem,
    fitting,
    folder_path,
    truncated,
)
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
from bot.agent.tools.search_tools import MAX_PASSAGES, CodeSearch, SearchCode, SearchMemory, search_memory
from bot.ports import NoteIndex, NoteStore

READ = (
    "Read numbered lines of a committed file. Cite them as path:start-end, at most 40 lines at once."
    " Only lines shown by this tool count as read."
)
LIST = "List a folder of the codebase, or all files whose path fits a pattern."
SEARCH = (
    "Search the codebase for an exact text and for the passages nearest to words. Shows numbered lines; what you"
    " cite of them must be read with read_file."
)
LOG = "List commits, newest first: of a path, by words of the message, or by a text they add or remove."
SHOW = "Show a commit: its message, the files it changed and its diff. Cite its id."
BLAME = "Show which commit last changed each line of a file."
MEMORY = "Search approved notes and earlier replies. Cite ref:start-end; heed a line `caution:`."

_REPOSITORY_TOOLS: Final = (
    ("read_file", READ, ReadFile, read_file_tool),
    ("list_files", LIST, ListFiles, list_files),
    ("git_log", LOG, GitLog, git_log),
    ("git_show", SHOW, GitShow, git_show),
    ("git_blame", BLAME, GitBlame, git_blame),
)

MAX_SEARCH_LINES: Final = 400
MAX_NAMED: Final = 60
"""Codebases that a description lists."""


def repository_tools(repo: GitRepo, ledger: Ledger, *, known_secrets: Collection[str]) -> list[Tool]:
    """Return what reads HEAD of any checkout, without an index; raises ConfigError if `repo` has no commit."""
    see = Snapshot(repo, repo.head(), ledger, known_secrets)
    return [
        Tool(name=name, description=said, arguments=arguments, call=partial(answer, see))
        for name, said, arguments, answer in _REPOSITORY_TOOLS
    ]


class _View(NamedTuple):
    codebase: Codebase
    snapshot: Snapshot
    search: CodeSearch


def investigator_tools(
    codebases: Codebases,
    memory: NoteIndex,
    notes: NoteStore,
    ledger: Ledger,
    *,
    known_secrets: Collection[str] = (),
) -> list[Tool]:
    """Return the investigator's tools over the HEADs, recording in `ledger`; none shows a known secret.

    Raises:
        ConfigError: a codebase has no commit.
        CodebaseUnreadable: none of them can be read.
    """
    views = _Views(codebases, ledger, known_secrets)
    return [
        views.tool("search_code", SEARCH, SearchCode, views.search),
        *(
            views.tool(name, said, arguments, views.show if name == "git_show" else partial(views.answer, answer))
            for name, said, arguments, answer in _REPOSITORY_TOOLS
        ),
        Tool(
            name=MEMORY_TOOL,
            description=MEMORY,
            arguments=SearchMemory,
            call=partial(search_memory, views.first.snapshot, memory, notes),
        ),
    ]


class _Views:
    """The codebases as one run sees them: each at the commit that was HEAD when its tools were made."""

    def __init__(self, codebases: Codebases, ledger: Ledger, known_secrets: Collection[str]) -> None:
        self._codebases, self._is_one = codebases, len(codebases) == 1
        heads = codebases.heads()
        self._views: Mapping[str, _View] = {
            one.id: _View(one, snapshot, CodeSearch(snapshot, one.index))
            for one in codebases
            if one.repo.root in heads
            for snapshot in [Snapshot(one.repo, heads[one.repo.root], ledger, known_secrets, prefix=one.prefix)]
        }

    @property
    def first(self) -> _View:
        """The first one, which is the only one of most teams."""
        return next(iter(self._views.values()))

    def tool(self, name: str, description: str, arguments: type[Arguments], answer: Callable[[Any], str]) -> Tool:
        """Return a tool; where there are several codebases its description names them."""
        if not self._is_one:
            docs = {one.id for one in self._codebases if one.is_docs}
            named = [f"{one} (a handbook)" if one in docs else one for one in list(self._views)[:MAX_NAMED]]
            description += f" There are several codebases: {', '.join(named)}; begin each path with one: codebase:path."
        return Tool(name=name, description=description, arguments=arguments, call=answer)

    def answer(self, answer: Callable[[Snapshot, Any], str], given: Any) -> str:
        """Return what a tool over a single repository says of the codebase that is named."""
        view, rest = self._meant(given)
        if view is None:
            raise ToolProblem(f"begin the path with its codebase and a colon: {', '.join(self._views)}")
        return answer(view.snapshot, rest)

    def show(self, given: Any) -> str:
        """Show a commit of the codebase that is named, else of the one that has it."""
        view, rest = self._meant(given)
        if view is None:
            root = self._codebases.holder(rest.commit).root
            views = list(self._views.values())
            view = next((one for one in views if one.codebase.repo.root == root), views[0])
        return git_show(view.snapshot, rest)

    def search(self, given: Any) -> str:
        """Search the codebase that is named, else all of them, their passages ranked together."""
        view, rest = self._meant(given)
        if view is not None:
            return view.search(rest)
        if rest.path:
            raise ToolProblem(f"begin the path with its codebase and a colon: {', '.join(self._views)}")
        lines = [*self._exact(rest.query), *self._nearest(rest.query)]
        if not lines:
            return "nothing found in any codebase; try other words, or list_files"
        kept = fitting(lines, max_lines=MAX_SEARCH_LINES, max_chars=MAX_CHARS)
        return "\n".join([*kept, *truncated(len(kept), len(lines), "lines", "path")])

    def _exact(self, query: str) -> Iterator[str]:
        for name, view in self._views.items():
            found = view.search.exact(query, "") if "\n" not in query else []
            if found:
                yield from (f"codebase {name} at {view.snapshot.commit[:12]}", *found)

    def _nearest(self, query: str) -> Iterator[str]:
        for view in self._views.values():
            view.codebase.index.refresh()
        found = self._codebases.among(self._views).search(query, limit=MAX_PASSAGES)
        blocks = [self._views[one.codebase.id].search.passage(one.passage) for one in found]
        if any(blocks):
            yield from ("passages nearest to its words:", *(line for block in blocks for line in block))

    def _meant(self, given: Any) -> tuple[_View | None, Any]:
        """Return the codebase that stands before a call's path, and the call with the path alone."""
        field = "folder" if hasattr(given, "folder") else "path"
        name, colon, rest = (getattr(given, field, None) or "").partition(":")
        if not colon or name not in self._views:
            return (self.first if self._is_one else None), given
        return self._views[name], given.model_copy(update={field: folder_path(rest)})
