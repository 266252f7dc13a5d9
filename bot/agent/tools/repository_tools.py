"""read_file, list_files, git_log, git_show and git_blame: the codebase at the commit of the run, and its history.

They see the history of the run's commit and nothing else that the object store holds. Files that hold secrets by name
are left out of every diff and of every search; a commit that is shown whole stands in the ledger by its full id.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Annotated, Final

from pydantic import Field

from bot.agent.git.git_history import Commit, GitHistory
from bot.agent.git.git_repo import TreeEntry
from bot.agent.tools.base import (
    MAX_CHARS,
    Arguments,
    Line,
    LineNumber,
    Path,
    Snapshot,
    ToolProblem,
    clean_path,
    fitting,
    folder_path,
    path_text,
    quote_line,
    truncated,
)
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import redact_lines, redact_patch

MAX_LINES: Final = 400
MAX_ENTRIES: Final = 300

MAX_BLAMED_LINES: Final = 150

MAX_COMMITS: Final = 50
MAX_DIFF_LINES: Final = 500
MAX_PATHS: Final = 200


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


class GitBlame(ReadFile):
    """Which lines of which file."""

    path: Annotated[Path, Field(description="Path from the top of the repository.")]


def git_blame(snapshot: Snapshot, given: GitBlame) -> str:
    """Return each line with the short id of its commit, then what these commits are."""
    path = clean_path(given.path)
    total = len(snapshot.content(path).lines)
    end = min(given.end or total, total)
    if given.start > end:
        raise ToolProblem(f"{path_text(path)} has {total} lines, and start must not lie after end")
    if _counted_by_git(snapshot, path) != total:
        raise ToolProblem(f"{path_text(path)} has line ends that git does not count; use git_log with its path")
    shown = snapshot.show(path, given.start, end, max_lines=MAX_BLAMED_LINES, max_chars=MAX_CHARS)
    history = GitHistory(snapshot.repo)
    blamed = history.blame(snapshot.commit, path, given.start, given.start + len(shown) - 1)
    lines = [f"{blamed.get(at, '')[:12]} {line}" for at, line in enumerate(shown, given.start)]
    commits = [_row(history.commits(sha, limit=1)[0], with_tags=False) for sha in dict.fromkeys(blamed.values())]
    more = truncated(len(shown), end - given.start + 1, "lines", "start/end")
    heading = f"{snapshot.name(path)} at {snapshot.commit[:12]}"
    return "\n".join([heading, *lines, *more, "commits:", *redact_lines(commits, snapshot.known_secrets)])


def _counted_by_git(snapshot: Snapshot, path: str) -> int:
    """Return how many lines git counts in a file: it knows no lone CR, and no UTF-16."""
    content = snapshot.repo.blob_at(snapshot.commit, path) or b""
    return content.count(b"\n") + (not content.endswith(b"\n"))


class GitLog(Arguments):
    """Which commits to list."""

    path: Annotated[Path | None, Field(description="Only commits that touch this file or folder.")] = None
    message_contains: Annotated[Line | None, Field(description="Only commits whose message holds this text.")] = None
    code_contains: Annotated[
        Line | None, Field(description="Only commits that add or remove an occurrence of this exact text.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_COMMITS, description="How many commits, newest first.")] = 15


class GitShow(Arguments):
    """Which commit to show."""

    commit: Annotated[str, Field(pattern=r"^(HEAD|[0-9a-f]{7,64})$", description="Commit id as git_log shows it.")]
    path: Annotated[Path | None, Field(description="Only the changes of this file or folder.")] = None


def git_log(snapshot: Snapshot, given: GitLog) -> str:
    """Return one line for each commit: id, date, author, tags, subject."""
    path = (folder_path(given.path) and clean_path(given.path)) if given.path else ""
    history = GitHistory(snapshot.repo)
    found = history.commits(
        snapshot.commit, limit=given.limit, path=path or None, message=given.message_contains, text=given.code_contains
    )
    if given.code_contains:
        found = [one for one in found if _shows_elsewhere(history, one, given.code_contains)]
    if not found:
        return f"no such commit up to {snapshot.commit[:12]}"
    rows = redact_lines([_row(one) for one in found], snapshot.known_secrets)
    more = [f"the newest {given.limit} shown; narrow with path, message_contains or code_contains"]
    return "\n".join([f"commits up to {snapshot.commit[:12]}", *rows, *(more if len(rows) >= given.limit else [])])


def git_show(snapshot: Snapshot, given: GitShow) -> str:
    """Return a commit's message, the files it changed and its diff."""
    sha = snapshot.repo.resolve_in(snapshot.commit, given.commit) if given.commit != "HEAD" else snapshot.commit
    if sha is None:
        raise ToolProblem(f"there is no commit {given.commit[:12]}; give an id that git_log shows")
    history = GitHistory(snapshot.repo)
    (commit,) = history.commits(sha, limit=1)
    changed = _below(history.changed_paths(sha), folder_path(given.path) if given.path else "")
    snapshot.ledger.record_shown("git_show", sha)
    return "\n".join([*_message(snapshot, commit), *_names(changed), *_diff(snapshot, history, sha, changed)])


def _shows_elsewhere(history: GitHistory, commit: Commit, text: str) -> bool:
    """Whether a commit adds or removes `text` in a file that may be shown."""
    return any(not is_secret_file(path) for path in history.changed_paths(commit.sha, text=text))


def _row(commit: Commit, *, with_tags: bool = True) -> str:
    tags = f" ({commit.tags})" if commit.tags and with_tags else ""
    return f"{commit.sha[:12]} {commit.date} {path_text(commit.author)}{tags}: {commit.subject}"


def _message(snapshot: Snapshot, commit: Commit) -> list[str]:
    """Return a heading and the message, its lines marked, so that none can pass for a remark of ours."""
    lines = redact_lines(commit.message.split("\n"), snapshot.known_secrets)
    kept = fitting([quote_line(line) for line in lines], max_lines=MAX_DIFF_LINES)
    heading = f"commit {commit.sha}\ndate {commit.date}, author {path_text(commit.author)}\nmessage:"
    return [heading, *kept, *truncated(len(kept), len(lines), "lines", "path")]


def _names(changed: list[str]) -> list[str]:
    lines = [f"{path_text(path)}{' (withheld: may hold secrets)' if is_secret_file(path) else ''}" for path in changed]
    kept = fitting(lines, max_lines=MAX_PATHS)
    return [f"files changed: {len(changed)}", *kept, *truncated(len(kept), len(lines), "files", "path")]


def _below(changed: list[str], path: str) -> list[str]:
    return [one for one in changed if not path or one == path or one.startswith(f"{path}/")]


def _diff(snapshot: Snapshot, history: GitHistory, sha: str, changed: list[str]) -> list[str]:
    """Return the lines of the diff of what may be shown."""
    withheld = [path for path in changed if is_secret_file(path)]
    paths = [path for path in changed if path not in withheld and not _below(withheld, path)]
    if not paths:
        return ["no diff to show"]
    patch = history.patch(sha, paths[:MAX_PATHS])
    lines = redact_patch(patch.text, snapshot.known_secrets).rstrip("\n").split("\n")
    kept = fitting([quote_line(line) for line in lines], max_lines=MAX_DIFF_LINES, max_chars=MAX_CHARS)
    complete = patch.complete and len(paths) <= MAX_PATHS
    return ["diff:", *kept, *truncated(len(kept), len(lines), "lines", "path", complete=complete)]
