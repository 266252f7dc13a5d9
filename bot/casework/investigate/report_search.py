"""Searches passages for a message of any length: each part is searched for by itself, and the rankings are joined.

Reads the index and the lines of the files that frames, names and paths point at; writes nothing. Of a message of one
sentence the same words are searched three ways: what covers them, what shares most of them, what defines their names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import TracePlace, trace_places
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.search.passages import Passage
from bot.domain.search.questions import question_of
from bot.domain.search.report_parts import ReportParts, parts_of
from bot.ports import PassageIndex

# Shares of a file's score. Chosen on reports about requests and pytest (benchmarks/bug_reports.py); halving or doubling
# one of them changes what is among the first five files for at most two reports in 23.
TITLE: Final = 1.0
OPENING: Final = 1.0
NAMES: Final = 1.0
ERRORS: Final = 0.5
WORDS: Final = 1.5
"""Of the passages that share the most words with the whole report, whatever they cover of it."""

FRAMES: Final = 3.0
PATHS: Final = 2.0
DEFINITIONS: Final = 1.0
OUTER_FRAME: Final = 0.3
"""How much less each further frame tells, as in 1 / (1 + 0.3 n)."""

SAME_FILE: Final = 0.6
SEARCHED: Final = 50
"""Passages of one part that are compared."""

MAX_DEFINING_FILES: Final = 5
"""A name that more files define says nothing about the file."""

DEFINES: Final = 0.7
"""The least weight of a file whose definitions count: tests and examples define the same names."""

AROUND_LINES: Final = 12

Scores = Mapping[str, float]


def search_text(text: str, repo: GitRepo, index: PassageIndex, *, limit: int = 8) -> list[Passage]:
    """Return the best passages for a message, best first: a question of one sentence or a report with logs.

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
    commit = repo.head()
    places = trace_places(text, repo, index, commit)
    return search_parts(parts_of(text), places, repo, index, commit=commit, limit=limit)


def search_parts(
    parts: ReportParts, places: Sequence[TracePlace], repo: GitRepo, index: PassageIndex, *, commit: str, limit: int
) -> list[Passage]:
    """Return the best passages for the parts of a message and the places of its frames; raises as `search_text`."""
    files: dict[str, float] = defaultdict(float)
    passages: dict[tuple[str, int], Passage] = {}
    for share, found in _searches(parts, index):
        _add(files, share, {one.path: one.score for one in sorted(found, key=lambda one: one.score)})
        _add_passages(passages, share, found)
    for share, pointed in (
        (FRAMES, _of_frames(places)),
        (PATHS, _of_paths(parts, index)),
        (DEFINITIONS, _of_names(parts, index)),
    ):
        _add(files, share, {path: score for path, (score, _) in pointed.items()})
        highest = max((score for score, _ in pointed.values()), default=0.0)
        for path, (score, line) in pointed.items():
            _point(passages, path, line, share * score / highest, repo, commit)
    return _spread(list(passages.values()), files)[:limit]


def _searches(parts: ReportParts, index: PassageIndex) -> Iterator[tuple[float, list[Passage]]]:
    """Yield what each part finds with its share, that of a report scored as if no kind of file was asked for."""
    for share, part in _searched(parts):
        found = index.search(part, limit=SEARCHED)
        yield share, _in_own_code(found, part) if parts.is_report else found
    asked = "" if parts.is_report else parts.whole
    similar = index.similar(parts.whole, limit=SEARCHED)
    yield WORDS, [replace(one, score=one.score * path_weight(one.path, asked)) for one in similar]


def _searched(parts: ReportParts) -> Iterator[tuple[float, str]]:
    """Yield what to search for with its share; parts with the same text are one."""
    shares: dict[str, float] = defaultdict(float)
    for share, part in (
        (TITLE, parts.title),
        (OPENING, parts.opening),
        (NAMES, parts.names),
        (ERRORS, parts.errors),
    ):
        shares[part] += share
    yield from ((share, part) for part, share in shares.items() if part)


def _in_own_code(found: Sequence[Passage], part: str) -> list[Passage]:
    """Return passages scored as if no kind of file was asked for: a report that says "test" is not about tests."""
    return [replace(one, score=one.score * path_weight(one.path, "") / path_weight(one.path, part)) for one in found]


def _add(files: dict[str, float], share: float, scores: Scores) -> None:
    """Add to each file its part of a share; the best file of `scores` gets all of it, one half as good a quarter."""
    best = max(scores.values(), default=0.0)
    for path, score in scores.items():
        files[path] += share * (score / best) ** 2


def _add_passages(passages: dict[tuple[str, int], Passage], share: float, found: Sequence[Passage]) -> None:
    best = max((one.score for one in found), default=0.0)
    for one in found:
        known = passages.get((one.path, one.start))
        score = share * one.score / best + (known.score if known else 0.0)
        passages[one.path, one.start] = replace(one, score=score)


def _of_frames(places: Sequence[TracePlace]) -> dict[str, tuple[float, int | None]]:
    """Return the score of each file that frames lie in, and the line of the innermost of them."""
    found: dict[str, tuple[float, int | None]] = {}
    for number, place in enumerate(places):
        score, line = found.get(place.path, (0.0, place.line))
        score += path_weight(place.path, "") / (1 + OUTER_FRAME * number)
        found[place.path] = score, line or place.line
    return found


def _of_paths(parts: ReportParts, index: PassageIndex) -> dict[str, tuple[float, int | None]]:
    """Return the files that are named, where a name means one file."""
    found: dict[str, tuple[float, int | None]] = {}
    for written in question_of(parts.opening).files:
        called = [path for path in index.places_called(written) if not path.endswith("/")]
        if len(called) == 1:
            found[called[0]] = path_weight(called[0], ""), None
    return found


def _of_names(parts: ReportParts, index: PassageIndex) -> dict[str, tuple[float, int | None]]:
    """Return the files that define what is named, and where; a name defined in several files counts less for each."""
    found: dict[str, tuple[float, int | None]] = {}
    named = dict.fromkeys(
        (*question_of(parts.title).names, *question_of(parts.names).names, *question_of(parts.opening).names)
    )
    for one in named:
        defined = [each for each in index.definitions(one.name) if each.name == one.name]
        lines = {each.path: each.line for each in reversed(defined) if path_weight(each.path, "") >= DEFINES}
        if len(lines) <= MAX_DEFINING_FILES:
            for path, line in lines.items():
                score, first = found.get(path, (0.0, line))
                found[path] = score + 1 / len(lines), first
    return found


def _point(
    passages: dict[tuple[str, int], Passage], path: str, line: int | None, score: float, repo: GitRepo, commit: str
) -> None:
    """Raise the passage that holds a line by a score; one is made where no search found any."""
    of_file = [one for one in passages.values() if one.path == path]
    holding = next((one for one in of_file if line is not None and one.start <= line <= one.end), None)
    if holding is None and (line is not None or not of_file):
        holding = _passage(path, line, repo, commit)
    if holding is not None:
        passages[path, holding.start] = replace(holding, score=holding.score + score)


def _passage(path: str, line: int | None, repo: GitRepo, commit: str) -> Passage | None:
    """Return the lines around a place that no search found."""
    lines = repo.lines_at(commit, path) if is_indexed(path) else None
    if not lines:
        return None
    at = min(line or 1, len(lines))
    start, end = max(1, at - AROUND_LINES), min(len(lines), at + AROUND_LINES)
    return Passage(path=path, start=start, end=end, text="\n".join(lines[start - 1 : end]), commit=commit, score=0.0)


def _spread(passages: Sequence[Passage], files: Scores) -> list[Passage]:
    """Return the passages best first, scored by their files; each further passage of a file counts less."""
    taken: dict[str, int] = defaultdict(int)
    spread = []
    for one in sorted(passages, key=lambda one: (-one.score, one.path, one.start)):
        spread.append(replace(one, score=files[one.path] * SAME_FILE ** taken[one.path]))
        taken[one.path] += 1
    return sorted(spread, key=lambda one: (-one.score, one.path, one.start))
