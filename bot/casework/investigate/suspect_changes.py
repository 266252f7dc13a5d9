"""What changed lately where a stack trace leads: the newest commits of the lines around its innermost frames.

Reads the index and git; writes nothing. A suspect is a lead for people and for the investigator, never a citation:
nobody has judged whether the change caused the error.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.agent.codebases import Codebase, Codebases
from bot.agent.git.git_history import Commit, GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator
from bot.casework.investigate.trace_places import TracePlace, trace_places
from bot.domain.returns import SuspectChange
from bot.domain.search.passages import is_quotable
from bot.domain.text.sanitize import one_line
from bot.errors import ProviderError, TriageError

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


def suspect_changes(places: Sequence[TracePlace], repo: GitRepo, commit: str) -> tuple[SuspectChange, ...]:
    """Return the newest commits that touched the lines of the innermost frames, the newest first; maybe none."""
    found: dict[str, SuspectChange] = {}
    for place in [one for one in places if one.line is not None][:MAX_FOLLOWED]:
        lines = repo.lines_at(commit, place.path)
        if not lines or place.line is None:
            continue
        start, end = max(1, place.line - AROUND_LINES), min(len(lines), place.line + AROUND_LINES)
        ref = f"{place.path}:{start}-{end}"
        for number, one in enumerate(_commits(repo, commit, place.path, start, end)):
            found.setdefault(one.sha, _suspect(one, ref, is_latest=number == 0))
    return tuple(sorted(found.values(), key=lambda one: one.changed_at, reverse=True)[:MAX_SUSPECTS])


def _commits(repo: GitRepo, commit: str, path: str, start: int, end: int) -> list[Commit]:
    try:
        return GitHistory(repo).line_commits(commit, path, start, end, limit=MAX_SUSPECTS, timeout_s=HISTORY_S)
    except ProviderError:
        log.warning("git could not follow the lines", extra={"action": "line_history_failed"}, exc_info=True)
        return []


def _suspect(commit: Commit, ref: str, *, is_latest: bool) -> SuspectChange:
    """Return a commit as it may be shown; words that hold a credential or would alert somebody are left out."""
    author, subject = one_line(commit.author, MAX_AUTHOR_CHARS), one_line(commit.subject, MAX_SUBJECT_CHARS)
    return SuspectChange(
        ref=ref,
        commit=commit.sha,
        author=author if is_quotable(author) else "",
        subject=subject if is_quotable(subject) else "",
        changed_at=commit.committed_at,
        is_latest=is_latest,
    )


def trace_notes(places: Sequence[TracePlace], suspects: Sequence[SuspectChange]) -> str:
    """Return what a model is told of a trace, one line for each place and commit; empty without a place."""
    frames = [f"{place.path}:{place.line}" if place.line else place.path for place in places[:MAX_SHOWN_PLACES]]
    changes = [
        f"{one.ref} changed in {one.commit[:12]} of {one.changed_at:%Y-%m-%d %H:%M} UTC by {one.author}: {one.subject}"
        for one in suspects
    ]
    if not frames:
        return ""
    heads = (
        "Frames of the stack trace in this codebase as it is now, innermost first:",
        "Newest changes of these lines:",
    )
    return "\n".join([heads[0], *frames, *([heads[1], *changes] if changes else [])])


@dataclass(frozen=True, slots=True)
class TracedInvestigator:
    """Port Investigator: `investigator`, told where the frames of a stack trace stand and what changed there."""

    investigator: Investigator
    codebases: Codebases

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the draft with its suspect changes; raises what the investigator raises."""
        said = "\n\n".join((assignment.question, *(one.text for one in assignment.human_context)))
        traced = (_traced(said, one) for one in self.codebases.among(assignment.codebases))
        places, suspects = max(traced, key=lambda found: len(found[0]), default=([], ()))
        told = replace(assignment, trace_notes=trace_notes(places, suspects))
        found = self.investigator.investigate(told, run_id=run_id, on_progress=on_progress)
        return replace(found, ret=found.ret.model_copy(update={"suspect_changes": suspects}))


def _traced(said: str, codebase: Codebase) -> tuple[list[TracePlace], tuple[SuspectChange, ...]]:
    """Return places and suspects; none where they cannot be looked up, which ends no investigation."""
    try:
        commit = codebase.index.refresh().commit
        places = trace_places(said, codebase.repo, codebase.index, commit)
        suspects = suspect_changes(places, codebase.repo, commit)
    except TriageError:
        log.warning("the stack trace was not looked up", extra={"action": "trace_unread"}, exc_info=True)
        return [], ()
    prefix = codebase.prefix
    named = tuple(one.model_copy(update={"ref": prefix + one.ref}) for one in suspects)
    return [place._replace(path=prefix + place.path) for place in places], named
