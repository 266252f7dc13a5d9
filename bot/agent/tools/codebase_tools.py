"""What a model may do with the codebases of a team: the tools of code_tools.py, told which codebase is meant.

A team with one codebase has the tools as they are. With several each tool takes `codebase`, and paths are shown, cited
and taken with the codebase in front (`shop:src/app.py`). Only the team's own codebases can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, create_model

from bot.agent.codebases import Codebase, Codebases
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.tools.base import MAX_CHARS, Arguments, Text, Tool, ToolProblem, fitting, truncated
from bot.agent.tools.code_tools import (
    BLAME,
    LIST,
    LOG,
    MEMORY,
    READ,
    SEARCH,
    SHOW,
    code_tools,
    reading_tools,
    recorded_tool,
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
from bot.agent.tools.search_tools import MAX_PASSAGES, CodeSearch, MemorySearch, SearchCode, SearchMemory
from bot.agent.tools.snapshot import Snapshot, folder_path
from bot.ports import NoteIndex, NoteStore

MAX_SEARCH_LINES: Final = 400
MAX_NAMED: Final = 60
"""Codebases that a description lists."""


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
    """Return the investigator's tools over the HEADs, recording in `ledger`; raises as `code_tools`."""
    if len(codebases) == 1:
        one = codebases.first
        return code_tools(one.repo, one.index, memory, notes, ledger, known_secrets=known_secrets)
    views = _Views(codebases, ledger, known_secrets)
    search = MemorySearch(views.first, memory, notes)
    return [
        views.tool("search_code", SEARCH, SearchCode, views.search),
        views.reader(),
        views.tool("list_files", LIST, ListFiles, views.of_one(list_files)),
        views.tool("git_log", LOG, GitLog, views.of_one(git_log)),
        views.tool("git_show", SHOW, GitShow, views.show),
        views.tool("git_blame", BLAME, GitBlame, views.of_one(git_blame)),
        recorded_tool(MEMORY_TOOL, MEMORY, SearchMemory, search, ledger),
    ]


def validator_tools(codebases: Codebases, ledger: Ledger, *, known_secrets: Collection[str] = ()) -> list[Tool]:
    """Return the validator's only tool, read_file; raises as `reading_tools`."""
    if len(codebases) == 1:
        return reading_tools(codebases.first.repo, ledger, known_secrets=known_secrets)
    return [_Views(codebases, ledger, known_secrets).reader()]


class _Views:
    """The codebases as one run sees them: each at the commit that was HEAD when its tools were made."""

    def __init__(self, codebases: Codebases, ledger: Ledger, known_secrets: Collection[str]) -> None:
        self._codebases, self._ledger = codebases, ledger
        heads = codebases.heads()
        self._views: Mapping[str, _View] = {
            one.id: _view(one, Snapshot(one.repo, heads[one.repo.root], ledger, known_secrets, prefix=one.prefix))
            for one in codebases
            if one.repo.root in heads
        }

    @property
    def first(self) -> Snapshot:
        """The first one's files."""
        return next(iter(self._views.values())).snapshot

    def tool(
        self, name: str, description: str, arguments: type[Arguments], answer: Callable[[Any], str], **more: bool
    ) -> Tool:
        """Return a tool that also takes `codebase`."""
        docs = {one.id for one in self._codebases if one.is_docs}
        known = ", ".join(f"{name} (a handbook)" if name in docs else name for name in list(self._views)[:MAX_NAMED])
        which = Annotated[Text, Field(description=f"Which codebase: {known}.")]
        wanted = create_model(f"{arguments.__name__}In", __base__=arguments, codebase=(which, ""))
        said = f"{description} There are several codebases: {known}; cite paths as codebase:path."
        return recorded_tool(name, said, wanted, answer, self._ledger, **more)

    def reader(self) -> Tool:
        """Return read_file."""
        return self.tool("read_file", READ, ReadFile, self.of_one(read_file_tool), reads=True)

    def of_one(self, answer: Callable[[Snapshot, Any], str]) -> Callable[[Any], str]:
        """Return a call that needs one codebase to be named."""

        def call(given: Any) -> str:
            view, rest = self._meant(given)
            if view is None:
                raise ToolProblem(f"say which codebase: {', '.join(self._views)}")
            return answer(view.snapshot, rest)

        return call

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
        is_named = bool(colon) and name in self._views
        if given.codebase and given.codebase not in self._views:
            raise ToolProblem(f"there is no codebase {given.codebase[:60]!r}; there are {', '.join(self._views)}")
        if is_named and given.codebase not in ("", name):
            raise ToolProblem(f"the path is in {name}, and the codebase says {given.codebase}; name one of them")
        if is_named:
            field = "path" if getattr(given, "path", None) else "folder"
            given = given.model_copy(update={field: folder_path(rest)})
        wanted = given.codebase or (name if is_named else "")
        return (self._views[wanted] if wanted else None), given


def _view(codebase: Codebase, snapshot: Snapshot) -> _View:
    return _View(codebase, snapshot, CodeSearch(snapshot, codebase.index))
