"""git_blame: which commit last changed each line of a file."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from bot.agent.git_history import Commit, History
from bot.agent.tool import ToolProblem
from bot.agent.tools.arguments import Arguments, LineNumber, Path
from bot.agent.tools.output import MAX_CHARS, path_text, truncated
from bot.agent.tools.redaction import redact_lines
from bot.agent.tools.snapshot import Snapshot, clean_path

MAX_LINES: Final = 150


class GitBlame(Arguments):
    """Which lines of which file."""

    path: Annotated[Path, Field(description="Path from the top of the repository.")]
    start: Annotated[LineNumber, Field(description="First line, counted from 1.")] = 1
    end: Annotated[LineNumber | None, Field(description="Last line, inclusive; absent: as many as fit.")] = None


def git_blame(snapshot: Snapshot, given: GitBlame) -> str:
    """Return each line with the short id of its commit, then what these commits are."""
    path = clean_path(given.path)
    total = len(snapshot.content(path).lines)
    end = min(given.end or total, total)
    if given.start > end:
        raise ToolProblem(f"{path_text(path)} has {total} lines, and start must not lie after end")
    if _counted_by_git(snapshot, path) != total:
        raise ToolProblem(f"{path_text(path)} has line ends that git does not count; use git_log with its path")
    shown = snapshot.show(path, given.start, end, max_lines=MAX_LINES, max_chars=MAX_CHARS)
    history = History(snapshot.repo)
    blamed = history.blame(snapshot.commit, path, given.start, given.start + len(shown) - 1)
    lines = [f"{blamed.get(at, '')[:12]} {line}" for at, line in enumerate(shown, given.start)]
    commits = [_row(history.commits(sha, limit=1)[0]) for sha in dict.fromkeys(blamed.values())]
    more = truncated(len(shown), end - given.start + 1, "lines", "start/end")
    heading = f"{path_text(path)} at {snapshot.commit[:12]}"
    return "\n".join([heading, *lines, *more, "commits:", *redact_lines(commits, snapshot.known_secrets)])


def _counted_by_git(snapshot: Snapshot, path: str) -> int:
    """Return how many lines git counts in a file: it knows no lone CR, and no UTF-16."""
    content = snapshot.repo.blob_at(snapshot.commit, path) or b""
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _row(commit: Commit) -> str:
    return f"{commit.sha[:12]} {commit.date} {path_text(commit.author)}: {commit.subject}"
