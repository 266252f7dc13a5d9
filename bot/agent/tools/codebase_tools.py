"""The tools with which a model reads a team's codebases: read, list, search and history; nothing writes or runs.

A set of tools belongs to one run, in one thread: it is bound to a ledger, which records what was read, and to the
commits that were HEAD when it was made. With several codebases paths begin with the name of one (`shop:src/app.py`).
Only the team's own codebases can be named.

The tools search_code (an exact text, or ranked passages) and search_memory (earlier answers).

Every line of code comes from the snapshot, whatever commit the index is at. A hit does not count as read; only
read_file reads. A note or reply that is found is recorded in the ledger by its ref.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_history import GitHistory, GitMatch
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import MEMORY_TOOL, Ledger
from bot.agent.tools.base import (
    MAX_CHARS,
    Arguments,
    Path,
    Snapshot,
    Text,
    Tool,
    ToolProblem,
    fitting,
    folder_path,
    number,
    path_text,
    quote_line,
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
from bot.domain.search.files import is_secret_file
from bot.domain.search.passages import MemoryHit, Passage
from bot.domain.secrets import redact_lines
from bot.ports import NoteIndex, NoteStore, PassageIndex

MAX_HITS: Final = 30
MAX_PASSAGES: Final = 6
MAX_PASSAGE_LINES: Final = 40
MAX_PASSAGE_CHARS: Final = 3_000

MAX_NOTES: Final = 4
MAX_NOTE_CHARS: Final = 4_000


class SearchCode(Arguments):
    """What to look for, and where."""

    query: Annotated[
        Text, Field(min_length=2, description="An exact text (an identifier, an error message) or words; no regex.")
    ]
    path: Annotated[Path | None, Field(description="Only in this folder or file.")] = None


class _MatchBlock(NamedTuple):
    """What is shown of one file, and how many hits that is."""

    lines: list[str]
    hits: int


def _holds(line: str, query: str) -> bool:
    """Whether a line holds a query as git finds it: capitals count only where the query has some."""
    return query in (line if query != query.lower() else line.lower())


class CodeSearch:
    """Searches the files of a snapshot, literally and by rank."""

    def __init__(self, snapshot: Snapshot, index: PassageIndex) -> None:
        self._snapshot = snapshot
        self._index = index
        self._is_fresh = False

    def __call__(self, given: SearchCode) -> str:
        """Return the lines that hold the query as it stands, then the passages nearest to its words."""
        if not given.query.strip():
            raise ToolProblem("the query is blank; give an identifier, a message or words")
        under = folder_path(given.path) if given.path else ""
        exact = self.exact(given.query, under) if "\n" not in given.query else []
        nearest = self._nearest(given.query, under)
        heading = f"searched at {self._snapshot.commit[:12]}"
        if not exact and not nearest:
            return f"{heading}: nothing found; try other words, or list_files"
        return "\n".join([heading, *exact, *nearest])

    def exact(self, query: str, under: str) -> list[str]:
        """Return the lines that hold a query as it stands, at most MAX_HITS of them, under a heading; maybe none."""
        found, complete = GitHistory(self._snapshot.repo).lines_with(self._snapshot.commit, query, under=under or None)
        hits = [hit for hit in found if not is_secret_file(hit.path) and hit.path.isprintable()]
        chosen = hits[:MAX_HITS]
        blocks = [self._of(path, group, query) for path, group in groupby(chosen, key=lambda hit: hit.path)]
        shown = sum(block.hits for block in blocks)
        total = len(hits) - len(chosen) + shown
        if not total:
            return []
        more = truncated(shown, total, "matches", "path or a longer query", complete=complete)
        return [f"lines that hold the query: {total}", *(line for block in blocks for line in block.lines), *more]

    def _of(self, path: str, hits: Iterable[GitMatch], query: str) -> _MatchBlock:
        """Return the hits of one file, except where the query stands in what is blacked out.

        Which lines these are is looked up again: git knows only one kind of line end.
        """
        count = len(list(hits))
        try:
            shown = self._snapshot.content(path).shown
        except ToolProblem as problem:
            return _MatchBlock([str(problem)], count)
        places = [at for at, line in enumerate(shown, 1) if _holds(line, query)][:count]
        lines = [self._snapshot.show(path, at, at, max_lines=1, max_chars=MAX_PASSAGE_CHARS) for at in places]
        return _MatchBlock(
            [self._snapshot.name(path), *(line for one in lines for line in one)] if lines else [], len(lines)
        )

    def _nearest(self, query: str, under: str) -> list[str]:
        if not self._is_fresh:
            self._index.refresh()
            self._is_fresh = True
        found = self._index.search(query, limit=MAX_PASSAGES * 3 if under else MAX_PASSAGES)
        inside = [one for one in found if not under or one.path == under or one.path.startswith(f"{under}/")]
        blocks = [self.passage(passage) for passage in inside[:MAX_PASSAGES]]
        lines = [line for block in blocks for line in block]
        return ["passages nearest to its words:", *lines] if lines else []

    def passage(self, passage: Passage) -> list[str]:
        """Return a passage as it stands in the snapshot; none if the index has moved on and it stands there no more."""
        try:
            lines = self._snapshot.content(passage.path).lines
        except ToolProblem:
            return []
        if "\n".join(lines[passage.start - 1 : passage.end]) != passage.text:
            return []
        limits = {"max_lines": MAX_PASSAGE_LINES, "max_chars": MAX_PASSAGE_CHARS}
        shown = self._snapshot.show(passage.path, passage.start, passage.end, **limits)
        more = truncated(len(shown), passage.end - passage.start + 1, "lines", "read_file")
        return [
            f"{self._snapshot.name(passage.path)} lines {passage.start}-{passage.start + len(shown) - 1}",
            *shown,
            *more,
        ]


class SearchMemory(Arguments):
    """What may have been answered before."""

    query: Annotated[Text, Field(min_length=2, description="The question, or its telling words.")]


def search_memory(snapshot: Snapshot, memory: NoteIndex, notes: NoteStore, given: SearchMemory) -> str:
    """Return the approved notes and earlier replies nearest to a question, each under the ref to cite."""
    hits = memory.search(given.query, limit=MAX_NOTES)
    for hit in hits:
        snapshot.ledger.record_shown(MEMORY_TOOL, hit.ref)
    return "\n".join(line for hit in hits for line in _hit_lines(hit, notes, snapshot)) or "nothing in memory fits"


def _hit_lines(hit: MemoryHit, notes: NoteStore, snapshot: Snapshot) -> list[str]:
    """Return a note's words with their line numbers, else what the index kept of an earlier reply."""
    note = next((note for note in notes.all() if note.ref == hit.ref), None)
    if note is None:
        lines = [quote_line(line) for line in redact_lines(hit.excerpt.split("\n"), snapshot.known_secrets)]
    else:
        words = redact_lines(note.text.removesuffix("\n").split("\n"), snapshot.known_secrets)
        lines = [number(line, at) for at, line in enumerate(words, note.first_line)]
    text = "\n".join(lines)
    more = truncated(min(len(text), MAX_NOTE_CHARS), len(text), "characters", "a closer query")
    cautioned = [f"caution: {hit.caution}"] if hit.caution else []
    return [f"ref: {path_text(hit.ref)}", *cautioned, text[:MAX_NOTE_CHARS], *more]


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
