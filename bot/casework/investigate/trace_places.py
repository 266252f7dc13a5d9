"""Where a report of a fault points to: the frames of its stack trace, and the passages that its words find."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bot.agent.git.git_history import Commit, GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.domain.citations.citation_lines import CitedLines
from bot.domain.returns import SuspectChange
from bot.domain.search.definitions import definition_end, definitions_in
from bot.domain.search.files import FileKind, file_kind, is_indexed, path_weight
from bot.domain.search.passages import Passage, is_quotable
from bot.domain.search.stack_frames import StackFrame, best_path, frames_in, line_of
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError
from bot.ports import PassageIndex

log = logging.getLogger(__name__)


MAX_SUSPECTS: Final = 3
MAX_FOLLOWED: Final = 3
"""Frames whose lines are followed through history."""

MAX_SHOWN_PLACES: Final = 8
AROUND_LINES: Final = 4
"""Lines before and behind a frame's own that count as changed with it."""

HISTORY_S: Final = 5.0
"""How long git may look for the commits of one frame's lines."""

MAX_SUBJECT_CHARS: Final = 160
MAX_AUTHOR_CHARS: Final = 60
MAX_LOOKED_UP: Final = 60
"""Frames; the innermost ones are looked up."""

MAX_PLACES: Final = 12
MAX_VERSIONS: Final = 10
"""Earlier versions of a file that may be the one which ran, the newest first."""

OWN_CODE: Final = 0.5
"""A file whose kind weighs less (a test) comes behind those of the product itself."""


class TracePlace(NamedTuple):
    """A frame, its file, and its line (from 1) in it as it is now; None where the line cannot be told."""

    frame: StackFrame
    path: str
    line: int | None


def trace_places(text: str, repo: GitRepo, index: PassageIndex, commit: str | None = None) -> list[TracePlace]:
    """Return where the frames of a text stand: the product's own code first, the innermost frame first.

    Other people's code that is kept in the codebase (`vendor/`) is left out, unless nothing else is there. Without a
    commit it is HEAD, for which git is asked only where the file of a frame is there.

    Raises:
        ConfigError: the codebase has no commit.
        ProviderError: git cannot read the codebase.
        StoreError: the index cannot be read.
    """
    called: dict[str, list[str]] = {}
    found: dict[tuple[str, int | None], TracePlace] = {}
    for frame in frames_in(text)[:MAX_LOOKED_UP]:
        name = frame.path.rpartition("/")[2]
        if name not in called:
            called[name] = [path for path in index.places_called(name) if path.rpartition("/")[2] == name]
        inside = _path_in_module(frame, index)
        path = inside if inside in called[name] else best_path(frame, called[name])
        if path is None:
            place = None if called[name] else _defined(frame, index)
        else:
            commit = commit or repo.head()
            place = _place(frame, path, repo, commit)
        if place is not None:
            found.setdefault((place.path, place.line), place)
    own = [one for one in found.values() if file_kind(one.path) is not FileKind.VENDORED]
    ordered = sorted(own or found.values(), key=lambda one: path_weight(one.path, "") < OWN_CODE)
    return ordered[:MAX_PLACES]


def _path_in_module(frame: StackFrame, index: PassageIndex) -> str:
    """Return the path of a frame in this codebase's own module in Go's cache of modules; empty for any other.

    Source: https://go.dev/ref/mod#module-cache, folders are called `module@version`.
    """
    if "@" not in frame.path:
        return ""
    module = next((line.split()[-1] for line in index.lines("go.mod") if line.startswith("module ")), "@")
    return frame.path.partition(f"/{module}@")[2].partition("/")[2]


def _defined(frame: StackFrame, index: PassageIndex) -> TracePlace | None:
    """Return where the function of a frame is defined, if its name tells something and that is in one file."""
    if frame.is_of_library or not frame.is_named:
        return None
    defined = [one for one in index.definitions(frame.function) if one.name == frame.function]
    return TracePlace(frame, defined[0].path, defined[0].line) if len({one.path for one in defined}) == 1 else None


def _place(frame: StackFrame, path: str, repo: GitRepo, commit: str) -> TracePlace | None:
    lines = repo.lines_at(commit, path) if is_indexed(path) else None
    return TracePlace(frame, path, _line_now(frame, path, lines, repo, commit)) if lines else None


def _line_now(frame: StackFrame, path: str, lines: Sequence[str], repo: GitRepo, commit: str) -> int | None:
    """Return the line that a frame means; where it left the frame's function, the one with the same text as then."""
    starts = _starts(frame, path, lines)
    found = line_of(frame, lines, starts)
    is_same_text = found is not None and lines[found - 1].strip() == frame.source
    if is_same_text or not starts or _enclosing(frame.line, lines, starts):
        return found
    for version in GitHistory(repo).commits(commit, limit=MAX_VERSIONS + 1, path=path)[1:]:
        then = repo.lines_at(version.sha, path) or []
        if start := _enclosing(frame.line, then, _starts(frame, path, then)):
            text, offset = then[frame.line - 1].strip(), frame.line - start
            same = [at for at, line in enumerate(lines, 1) if line.strip() == text and _enclosing(at, lines, starts)]
            return min(same, key=lambda at: min(abs(at - now - offset) for now in starts), default=found)
    return found


def _starts(frame: StackFrame, path: str, lines: Sequence[str]) -> list[int]:
    """Return the lines of a version of a file that define a frame's function."""
    return [one.line for one in definitions_in(path, lines) if one.name == frame.function]


def _enclosing(line: int, lines: Sequence[str], starts: Sequence[int]) -> int | None:
    """Return where the definition begins that a line lies in."""
    return next((start for start in reversed(starts) if start <= line <= definition_end(lines, start)), None)


def suspect_changes(places: Sequence[TracePlace], repo: GitRepo, commit: str) -> tuple[SuspectChange, ...]:
    """Return the newest commits that touched the lines of the innermost frames, the newest first; maybe none.

    Words of theirs that hold a credential or would alert somebody are left out.
    """
    found: dict[str, SuspectChange] = {}
    history = GitHistory(repo)
    for path, line in [(one.path, one.line) for one in places if one.line is not None][:MAX_FOLLOWED]:
        start, end = max(1, line - AROUND_LINES), min(len(repo.lines_at(commit, path) or ()), line + AROUND_LINES)
        try:
            commits = history.line_commits(commit, path, start, end, limit=MAX_SUSPECTS, timeout_s=HISTORY_S)
        except ProviderError:
            log.warning("git could not follow the lines", extra={"action": "line_history_failed"}, exc_info=True)
            continue
        for number, one in enumerate(commits):
            suspect = suspect_of(one, str(CitedLines(path, start, end)), is_latest=number == 0)
            found.setdefault(one.sha, suspect)
    return tuple(sorted(found.values(), key=lambda one: one.changed_at, reverse=True)[:MAX_SUSPECTS])


def suspect_of(one: Commit, ref: str, *, is_latest: bool) -> SuspectChange:
    """Return a commit as a suspect change of what `ref` names."""
    author, subject = one_line(one.author, MAX_AUTHOR_CHARS), one_line(one.subject, MAX_SUBJECT_CHARS)
    return SuspectChange(
        ref=ref,
        commit=one.sha,
        author=author if is_quotable(author) else "",
        subject=subject if is_quotable(subject) else "",
        changed_at=one.committed_at,
        is_latest=is_latest,
    )


def trace_notes(places: Sequence[TracePlace], suspects: Sequence[SuspectChange]) -> str:
    """Return what a model is told of a trace, one line for each place and commit; empty without a place."""
    frames = [f"{place.path}:{place.line}" if place.line else place.path for place in places[:MAX_SHOWN_PLACES]]
    changes = [
        f"{one.ref} changed in {one.commit[:12]} of {one.changed_at:%Y-%m-%d %H:%M} UTC by {one.author}: {one.subject}"
        for one in suspects
    ]
    told = (
        ("Frames of the stack trace in this codebase as it is now, innermost first:", frames),
        ("Newest changes there:", changes),
    )
    return "\n".join(line for head, lines in told if frames and lines for line in (head, *lines))


# Shares of a file's score. Chosen on reports about requests, pytest, flask and seaborn (benchmarks/bug_reports.py).
FIRST_LINE: Final = 1.0
OPENING: Final = 1.0
WHOLE: Final = 1.5
FRAMES: Final = 3.0
OUTER_FRAME: Final = 0.3
"""How much less each further frame tells, as in 1 / (1 + 0.3 n)."""

OPENING_CHARS: Final = 600
REPORT_WORDS: Final = 80
"""A text of more words is a report, whatever else it holds."""

SEARCHED: Final = 50
"""Passages of one part that are compared."""

MATCHED_LINES: Final = 12


def is_report(text: str) -> bool:
    """Whether a text is more than a question: it is long, or it holds code or a log."""
    return len(text.split()) > REPORT_WORDS or "```" in text


def search_text(text: str, repo: GitRepo, index: PassageIndex, *, limit: int = 8) -> list[Passage]:
    """Return the best passages for a report, one of each file, best first.

    What stands first outside of code is searched for by itself, so that no log hides it; frames of a trace lead most.

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
    said = "\n".join(text.split("```")[::2]).strip()
    parts = ((FIRST_LINE, said.partition("\n")[0]), (OPENING, said[:OPENING_CHARS]), (WHOLE, text))
    searched = [(share, index.similar(part, limit=SEARCHED)) for share, part in parts]
    for share, found in (*searched, (FRAMES, _of_frames(text, repo, index))):
        scored = [replace(one, score=one.score * path_weight(one.path, "")) for one in found]
        best = max((one.score for one in scored), default=0.0)
        for one in {one.path: one for one in sorted(scored, key=lambda one: one.score)}.values():
            told = share * (one.score / best) ** 2
            files[one.path] += told
            if one.path not in shown or told >= shown[one.path].score:
                shown[one.path] = replace(one, score=told)
    ranked = [replace(one, score=files[one.path]) for one in shown.values()]
    return sorted(ranked, key=lambda one: (-one.score, one.path))[:limit]


def _of_frames(text: str, repo: GitRepo, index: PassageIndex) -> list[Passage]:
    """Return the lines around the frames in a text, the innermost first."""
    found, commit = [], repo.head()
    for number, one in enumerate(trace_places(text, repo, index, commit)):
        lines = index.lines(one.path)
        at = min(one.line or 1, len(lines))
        start, end = max(1, at - MATCHED_LINES), min(len(lines), at + MATCHED_LINES)
        shown, score = "\n".join(lines[start - 1 : end]), 1 / (1 + OUTER_FRAME * number)
        found.append(Passage(path=one.path, start=start, end=end, text=shown, commit=commit, score=score))
    return found
