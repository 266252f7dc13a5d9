"""Where the frames of a stack trace stand in the codebase as it is now.

Reads the index for file names and definitions, git for lines; writes nothing. A frame whose file is gone is looked for
by the name of its function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from bot.agent.git.git_repo import GitRepo
from bot.domain.search.definitions import Definition
from bot.domain.search.file_kinds import is_indexed, path_weight
from bot.domain.search.stack_frames import StackFrame, best_path, frames_in, line_of
from bot.ports import PassageIndex

MAX_LOOKED_UP: Final = 60
"""Frames; the innermost ones are looked up."""
MAX_PLACES: Final = 12
OWN_CODE: Final = 0.5
"""A file whose kind weighs less (a test, vendored code) comes behind those of the product itself."""


class TracePlace(NamedTuple):
    """A frame, its file, and its line (from 1) in it as it is now; None where the line cannot be told."""

    frame: StackFrame
    path: str
    line: int | None


def trace_places(text: str, repo: GitRepo, index: PassageIndex, commit: str) -> list[TracePlace]:
    """Return where the frames of a text stand: the product's own code first, the innermost frame first.

    Raises:
        ProviderError: git cannot read the codebase.
        StoreError: the index cannot be read.
    """
    called: dict[str, list[str]] = {}
    found: dict[tuple[str, int | None], TracePlace] = {}
    for frame in frames_in(text)[:MAX_LOOKED_UP]:
        name = frame.path.rpartition("/")[2]
        if name not in called:
            called[name] = [path for path in index.places_called(name) if path.rpartition("/")[2] == name]
        if place := _place(frame, called[name], repo, index, commit):
            found.setdefault((place.path, place.line), place)
    ordered = sorted(found.values(), key=lambda one: path_weight(one.path, "") < OWN_CODE)
    return ordered[:MAX_PLACES]


def _place(
    frame: StackFrame, same_name: list[str], repo: GitRepo, index: PassageIndex, commit: str
) -> TracePlace | None:
    defined = list(_definitions(frame, index))
    path = best_path(frame, same_name)
    if path is None and not same_name and not frame.is_of_library and len({one.path for one in defined}) == 1:
        return TracePlace(frame, defined[0].path, defined[0].line)
    if path is None or not is_indexed(path):
        return None
    lines = repo.lines_at(commit, path)
    at = sorted(one.line for one in defined if one.path == path)
    return TracePlace(frame, path, line_of(frame, lines, at)) if lines else None


def _definitions(frame: StackFrame, index: PassageIndex) -> Iterator[Definition]:
    """Yield what defines the function of a frame, where its name tells something."""
    if frame.is_named:
        yield from (one for one in index.definitions(frame.function) if one.name == frame.function)
