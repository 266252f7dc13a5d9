"""The tools search_code (an exact text, or ranked passages) and search_memory (earlier answers).

Every line of code comes from the snapshot, whatever commit the index is at. A hit does not count as read; only
read_file reads. A note or reply that is found is recorded in the ledger by its ref.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from bot.agent.git.git_history import GitHistory, GitMatch
from bot.agent.ledger import MEMORY_TOOL
from bot.agent.tools.base import (
    Arguments,
    Path,
    Snapshot,
    Text,
    ToolProblem,
    folder_path,
    number,
    path_text,
    quote_line,
    truncated,
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
