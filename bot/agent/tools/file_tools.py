"""read_file and list_files: what stands in the codebase, at the commit of the run."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Annotated, Final

from pydantic import Field

from bot.agent.git.git_repo import TreeEntry
from bot.agent.tools.base import Arguments, LineNumber, Path, ToolProblem
from bot.agent.tools.snapshot import Snapshot, clean_path, folder_path
from bot.agent.tools.tool_output import MAX_CHARS, fitting, path_text, truncated
from bot.domain.search.file_kinds import is_secret_file

MAX_LINES: Final = 400
MAX_ENTRIES: Final = 300


class ReadFile(Arguments):
    """Which lines of which file."""

    path: Annotated[Path, Field(description="Path from the top of the repository, like src/app.py.")]
    start: Annotated[LineNumber, Field(description="First line, counted from 1.")] = 1
    end: Annotated[LineNumber | None, Field(description="Last line, inclusive; absent: as many as fit.")] = None


class ListFiles(Arguments):
    """Which part of the codebase."""

    folder: Annotated[Path, Field(description="Folder from the top; empty: the top.")] = ""
    pattern: Annotated[
        Path | None, Field(description="Shell pattern on the whole path, like *test*.py; searches every depth.")
    ] = None


def read_file_tool(snapshot: Snapshot, given: ReadFile) -> str:
    """Return numbered lines of a committed file under a heading that names path, lines and commit."""
    path = clean_path(given.path)
    total = len(snapshot.content(path).lines)
    if total == 0:
        return f"{path_text(path)} at {snapshot.commit[:12]} is empty"
    end = min(given.end or total, total)
    if given.start > end:
        raise ToolProblem(f"{path_text(path)} has {total} lines, and start must not lie after end")
    shown = snapshot.read(path, given.start, end, max_lines=MAX_LINES, max_chars=MAX_CHARS)
    last = given.start + len(shown) - 1
    heading = f"{snapshot.name(path)} lines {given.start}-{last} of {total} at {snapshot.commit[:12]}"
    return "\n".join([heading, *shown, *truncated(len(shown), end - given.start + 1, "lines", "start/end")])


def list_files(snapshot: Snapshot, given: ListFiles) -> str:
    """Return the files that fit a pattern, or what stands directly in a folder."""
    folder = folder_path(given.folder)
    inside = [entry for entry in snapshot.tree if entry.path.startswith(f"{folder}/" if folder else "")]
    if not inside:
        raise ToolProblem(f"there is no folder {path_text(folder)} at {snapshot.commit[:12]}")
    if given.pattern is None:
        lines = _children(inside, len(folder) + 1 if folder else 0)
    else:
        lines = [_entry(entry) for entry in inside if fnmatchcase(entry.path, given.pattern)]
    kept = fitting(lines, max_lines=MAX_ENTRIES)
    heading = f"{snapshot.name(folder) or 'the top'} at {snapshot.commit[:12]}, {len(lines)} entries"
    return "\n".join([heading, *kept, *truncated(len(kept), len(lines), "entries", "folder/pattern")])


def _children(inside: list[TreeEntry], skip: int) -> list[str]:
    """Return one line for each folder, with how many files it holds, then one for each file."""
    deeper = Counter(entry.path[: entry.path.index("/", skip) + 1] for entry in inside if "/" in entry.path[skip:])
    folders = [f"{path_text(name)} ({count} files)" for name, count in sorted(deeper.items())]
    return [*folders, *(_entry(entry) for entry in inside if "/" not in entry.path[skip:])]


def _entry(entry: TreeEntry) -> str:
    return f"{path_text(entry.path)} ({'withheld' if is_secret_file(entry.path) else f'{entry.size} bytes'})"
