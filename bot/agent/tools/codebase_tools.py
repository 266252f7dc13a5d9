"""The tools with which a model reads a team's codebases: read, list, search and history; nothing writes or runs.

A set of tools belongs to one run, in one thread: it is bound to a ledger, which records what was read, and to the
commits that were HEAD when it was made. With several codebases each tool takes `codebase`, and paths begin with it
(`shop:src/app.py`). Only the team's own codebases can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, create_model

from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.tools.base import (
    MAX_CHARS,
    Arguments,
    Snapshot,
    Text,
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
        """Return a tool that also takes `codebase` where there are several."""
        if self._is_one:
            return Tool(name=name, description=description, arguments=arguments, call=answer)
        docs = {one.id for one in self._codebases if one.is_docs}
        known = ", ".join(f"{name} (a handbook)" if name in docs else name for name in list(self._views)[:MAX_NAMED])
        which = Annotated[Text, Field(description=f"Which codebase: {known}.")]
        wanted = create_model(f"{arguments.__name__}In", __base__=arguments, codebase=(which, ""))
        said = f"{description} There are several codebases: {known}; cite paths as codebase:path."
        return Tool(name=name, description=said, arguments=wanted, call=answer)

    def answer(self, answer: Callable[[Snapshot, Any], str], given: Any) -> str:
        """Return what a tool over a single repository says of the codebase that is named."""
        view, rest = self._meant(given)
        if view is None:
            raise ToolProblem(f"say which codebase: {', '.join(self._views)}")
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
            raise ToolProblem(f"say which codebase the path is in: {', '.join(self._views)}")
        lines = [*self._exact(rest.query), *self._nearest(rest.query)]
        if not lines:
            return "nothing found in any codebase; try other words, or list_files"
        kept = fitting(lines, max_lines=MAX_SEARCH_LINES, max_chars=MAX_CHARS)
        return "\n".join([*kept, *truncated(len(kept), len(lines), "lines", "codebase")])

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
        """Return the codebase that a call names, be it before a path, and the call with the path alone.

        Raises:
            ToolProblem: there is no such codebase, or two are named.
        """
        path = getattr(given, "path", None) or getattr(given, "folder", None) or ""
        name, colon, rest = path.partition(":")
        is_named = bool(name and colon) and name in self._views
        if self._is_one and not is_named:
            return self.first, given
        codebase = "" if self._is_one else given.codebase
        if codebase and codebase not in self._views:
            raise ToolProblem(f"there is no codebase {codebase[:60]!r}; there are {', '.join(self._views)}")
        if is_named and codebase not in ("", name):
            raise ToolProblem(f"the path is in {name}, and the codebase says {codebase}; name one of them")
        if is_named:
            field = "path" if getattr(given, "path", None) else "folder"
            given = given.model_copy(update={field: folder_path(rest)})
        wanted = codebase or (name if is_named else "")
        return (self._views[wanted] if wanted else None), given
