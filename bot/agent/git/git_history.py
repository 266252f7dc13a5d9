"""Reads a checkout's history: commits, their changes, who wrote a line, where a text occurs.

Git runs only through GitRepo's process. Every text from outside is one argument that cannot be an option: joined to
its option, after `-e`, or after `--`. External diff drivers and text conversions are off.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from bot.agent.git.git_process import STREAM_S, Patience
from bot.agent.git.git_repo import GitRepo

MAX_BYTES: Final = 2_000_000
"""The most that is taken from one call of git."""

_DIFF: Final = (
    *("diff-tree", "-r", "--root", "--no-commit-id", "--no-renames", "--diff-merges=first-parent"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"),
)
_FORMAT: Final = "%H%x00%cI%x00%aI%x00%an%x00%ae%x00%D%x00%s%x00%B"
_LOG: Final = (
    *("log", "-z", "--no-show-signature", "--no-color", "--no-mailmap", "--decorate-refs=refs/tags/"),
    f"--format={_FORMAT}%x00",
)
_FIELDS: Final = 8
_BLAMED: Final = re.compile(r"([0-9a-f]{40,64}) \d+ (\d+)")


class Commit(NamedTuple):
    """One commit; its times are aware, `tags` are as git names them, `message` is whole.

    It was written at `authored_at`, and came into its history at `committed_at`.
    """

    sha: str
    committed_at: datetime
    authored_at: datetime
    author: str
    email: str
    tags: str
    subject: str
    message: str

    @property
    def body(self) -> str:
        """The message without its first paragraph, which is the subject."""
        return self.message.partition("\n\n")[2]

    @property
    def date(self) -> str:
        """The day it was written where its author was, yyyy-mm-dd."""
        return self.authored_at.date().isoformat()


class Patch(NamedTuple):
    """A diff as text; `complete` is False when it was cut at MAX_BYTES."""

    text: str
    complete: bool


class GitMatch(NamedTuple):
    """A line that holds a text."""

    path: str
    line: int


class GitHistory:
    """The history of `repo`; each method raises ProviderError when git fails or takes too long."""

    def __init__(self, repo: GitRepo) -> None:
        self._git = repo.process

    def commits(
        self, commit: str, *, limit: int, path: str | None = None, message: str | None = None, text: str | None = None
    ) -> list[Commit]:
        """Return the newest commits up to `commit`: of a path, with words in the message, that add or remove a text."""
        filters = [
            *([f"--grep={message}", "--fixed-strings", "--regexp-ignore-case"] if message else []),
            *([f"-S{text}", "--no-textconv", "--no-ext-diff"] if text else []),
        ]
        out, _ = self._git.run_capped(
            *(*_LOG, f"--max-count={limit}", *filters),
            *("--end-of-options", commit, "--", *([path] if path else [])),
            max_bytes=MAX_BYTES,
        )
        return list(_commits([out]))

    def each_commit(self, commit: str, *, since: str | None, limit: int) -> Iterator[Commit]:
        """Yield the newest commits up to `commit`, without those of `since`, the newest first, however many."""
        asked = f"{since}..{commit}" if since else commit
        options = ("--no-patch", f"--max-count={limit}")
        git = self._git.with_variables({"GIT_FLUSH": "0"})  # else it is woken for each commit
        yield from _commits(git.stream(*_LOG, *options, asked, "--", patience=Patience(STREAM_S)))

    def commits_of(self, commits: Collection[str]) -> Iterator[Commit]:
        """Yield some commits in their order, without those that are gone; for up to a hundred of them."""
        if commits:
            options = ("--no-patch", "--no-walk=unsorted", "--ignore-missing")
            yield from _commits(self._git.stream(*_LOG, *options, *commits, "--", patience=Patience(STREAM_S)))

    def line_commits(
        self, commit: str, path: str, start: int, end: int, *, limit: int, timeout_s: float
    ) -> list[Commit]:
        """Return the newest commits up to `commit` that changed the lines `start`..`end`, as these stand there."""
        out, _ = self._git.run_capped(
            *(*_LOG, "--no-ext-diff", "--no-textconv", "--no-patch", f"--max-count={limit}"),
            *(f"-L{start},{end}:{path}", "--end-of-options", commit),
            max_bytes=MAX_BYTES,
            timeout_s=timeout_s,
        )
        return list(_commits([out]))

    def changed_paths(self, commit: str, *, text: str | None = None) -> list[str]:
        """Return the paths a commit changed against its first parent, with `text` those where it adds or removes it."""
        pickaxe = [f"-S{text}"] if text else []
        out, _ = self._git.run_capped(*_DIFF, "-z", "--name-only", *pickaxe, commit, "--", max_bytes=MAX_BYTES)
        return [name.decode("utf-8", "surrogateescape") for name in out.split(b"\0") if name]

    def patch(self, commit: str, paths: Sequence[str]) -> Patch:
        """Return what a commit changed in `paths`, which may be neither empty nor folders that must not be shown."""
        out, complete = self._git.run_capped(*_DIFF, "--patch", commit, "--", *paths, max_bytes=MAX_BYTES)
        return Patch(out.decode("utf-8", "replace"), complete)

    def blame(self, commit: str, path: str, start: int, end: int) -> dict[int, str]:
        """Return the commit that last changed each of the lines `start`..`end` of a file."""
        options = ("--porcelain", "--no-textconv", "--no-ext-diff", f"-L{start},{end}")
        out, _ = self._git.run_capped("blame", *options, commit, "--", path, max_bytes=MAX_BYTES)
        found = (_BLAMED.match(line.decode("utf-8", "replace")) for line in out.split(b"\n"))
        return {int(match[2]): match[1] for match in found if match}

    def lines_with(self, commit: str, text: str, *, under: str | None = None) -> tuple[list[GitMatch], bool]:
        """Return the lines that hold `text`, and whether these are all; capitals count only where `text` has some."""
        case = [] if text != text.lower() else ["--ignore-case"]
        out, complete = self._git.run_capped(
            *("grep", "--fixed-strings", *case, "--line-number", "-I", "-z", "--full-name", "--no-color"),
            *("--no-textconv", "--no-recurse-submodules", "-e", text, commit, "--", *([under] if under else [])),
            max_bytes=MAX_BYTES,
            fine=(0, 1),
        )
        return list(_hits(out, len(commit) + 1)), complete


def _commits(parts: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits that `git log` prints in _FORMAT; half of one, where it was cut, is left out."""
    fields, rest = list[str](), b""
    for part in parts:
        *whole, rest = (rest + part).split(b"\0")
        fields += (field.decode("utf-8", "replace") for field in whole)
        for start in range(0, len(fields) - _FIELDS, _FIELDS + 1):
            sha, at, written, author, email, tags, subject, message = fields[start : start + _FIELDS]
            yield Commit(sha, _moment(at), _moment(written), author, email, tags, subject, message.strip("\n"))
        del fields[: len(fields) // (_FIELDS + 1) * (_FIELDS + 1)]


def _moment(written: str) -> datetime:
    """Return when a commit was made; of a damaged date the beginning of time, so that it is never taken for new."""
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _hits(out: bytes, prefix: int) -> Iterator[GitMatch]:
    """Yield the hits of `git grep -z -n`: `commit:path NUL line NUL text newline`."""
    for record in out.split(b"\n"):
        name, _, rest = record.partition(b"\0")
        line, found, _ = rest.partition(b"\0")
        if found:
            yield GitMatch(name[prefix:].decode("utf-8", "surrogateescape"), int(line))
