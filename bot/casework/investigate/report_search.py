"""Searches passages for a report of a fault: each part is searched for by itself, and the rankings are joined.

Reads the index and git for frames; writes nothing. A part that was searched for raises files, and so does what frames,
names and paths point at; each file is shown by the passage that tells most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import trace_places
from bot.domain.search.files import path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.questions import question_of
from bot.domain.search.report_parts import ReportParts, parts_of
from bot.ports import PassageIndex

# Shares of a file's score. Chosen on reports about requests and pytest (benchmarks/bug_reports.py); halving or doubling
# one of them changes what is among the first five files for at most two reports in 23.
TITLE: Final = 1.0
OPENING: Final = 1.0
ERRORS: Final = 0.5
WORDS: Final = 1.5
"""Of the whole report."""

FRAMES: Final = 3.0
PATHS: Final = 2.0
DEFINITIONS: Final = 1.0
OUTER_FRAME: Final = 0.3
"""How much less each further frame tells, as in 1 / (1 + 0.3 n)."""

SEARCHED: Final = 50
"""Passages of one part that are compared."""

MAX_DEFINING_FILES: Final = 5
"""A name that more files define says nothing about the file."""

OWN_CODE: Final = 0.7
"""The least weight of a file whose definitions count: tests and examples define the same names."""

AROUND_LINES: Final = 12


def search_text(text: str, repo: GitRepo, index: PassageIndex, *, limit: int = 8) -> list[Passage]:
    """Return the best passages for a report, one of each file, best first.

    Args:
        text: The message.
        repo: The codebase; it is read at HEAD.
        index: What is searched, as it was last brought up to HEAD.
        limit: How many passages.

    Raises:
        ProviderError: git cannot read the codebase.
        ConfigError: it has no commit.
        StoreError: the index cannot be read.
    """
    files: dict[str, float] = defaultdict(float)
    shown: dict[str, Passage] = {}
    parts, commit = parts_of(text), repo.head()
    for share, found in (*_searches(parts, index), *_pointed(text, parts, repo, index, commit)):
        best = max((one.score for one in found), default=0.0)
        for one in {one.path: one for one in sorted(found, key=lambda one: one.score)}.values():
            told = share * (one.score / best) ** 2
            files[one.path] += told
            if one.path not in shown or told >= shown[one.path].score:
                shown[one.path] = replace(one, score=told)
    ranked = [replace(one, score=files[one.path]) for one in shown.values()]
    return sorted(ranked, key=lambda one: (-one.score, one.path))[:limit]


def _searches(parts: ReportParts, index: PassageIndex) -> Iterator[tuple[float, list[Passage]]]:
    """Yield what each part finds with its share; a report is about no kind of file, whatever word for one it holds."""
    searched = ((TITLE, parts.title), (OPENING, parts.opening), (ERRORS, parts.errors), (WORDS, parts.whole))
    for share, part in searched:
        found = index.similar(part, limit=SEARCHED)
        yield share, [replace(one, score=one.score * path_weight(one.path, "")) for one in found]


def _pointed(
    text: str, parts: ReportParts, repo: GitRepo, index: PassageIndex, commit: str
) -> Iterator[tuple[float, list[Passage]]]:
    """Yield what frames, files and names in a message point at, with their shares."""

    def lines(path: str, line: int | None, score: float) -> Passage:
        every = index.lines(path)
        at = min(line or 1, len(every))
        start, end = max(1, at - AROUND_LINES), min(len(every), at + AROUND_LINES)
        return Passage(
            path=path, start=start, end=end, text="\n".join(every[start - 1 : end]), commit=commit, score=score
        )

    places = trace_places(text, repo, index, commit)
    yield (
        FRAMES,
        [
            lines(one.path, one.line, path_weight(one.path, "") / (1 + OUTER_FRAME * number))
            for number, one in enumerate(places)
        ],
    )
    question = question_of(parts.opening)
    called = [index.places_called(written) for written in question.files]
    named = [one[0] for one in called if len(one) == 1 and not one[0].endswith("/")]
    yield PATHS, [lines(path, None, path_weight(path, "")) for path in named]
    for one in question.names:
        defined = {
            each.path: each.line
            for each in reversed(index.definitions(one.name))
            if each.name == one.name and path_weight(each.path, "") >= OWN_CODE
        }
        if len(defined) <= MAX_DEFINING_FILES:
            yield (
                DEFINITIONS / max(1, len(defined) * len(question.names)),
                [lines(path, line, 1.0) for path, line in defined.items()],
            )
