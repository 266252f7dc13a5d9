"""Where citations are looked up (`Sources`), what stands at an address (`Lines`), and whether it still does at HEAD."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.agent.git.repositories import Located, Repositories
from bot.agent.ledger import Ledger
from bot.agent.tools.base import MAX_FILE_BYTES
from bot.domain.citations.citation_lines import CitedLines, Scan, quoted_lines
from bot.domain.notes import NoteCitation, StaleCitations
from bot.domain.search.files import FileKind, file_kind, file_lines, is_secret_file
from bot.domain.secrets import redact_lines
from bot.domain.text.sanitize import one_line
from bot.ports import NoteStore

NEAR_LINES: Final = 200
"""How far around the printed lines a secret of several lines may begin or end."""

Place = Literal["program", "test", "docs", "example", "generated", "vendored", "comment"]
"""The kind of place that cited lines of a file stand in."""

_PLACES: Final[Mapping[FileKind, Place]] = {
    FileKind.SOURCE: "program",
    FileKind.SETTINGS: "program",
    FileKind.TEST: "test",
    FileKind.DOCS: "docs",
    FileKind.LEGAL: "docs",
    FileKind.CHANGELOG: "docs",
    FileKind.EXAMPLE: "example",
    FileKind.GENERATED: "generated",
    FileKind.VENDORED: "vendored",
}


def place_of(path: str) -> Place | None:
    """Return the kind of place that a file is, by its path in its repository; its lines tell a comment.

    >>> place_of("src/app.py"), place_of("tests/test_app.py"), place_of(".env")
    ('program', 'test', None)
    """
    return _PLACES.get(file_kind(path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """What stands at an address.

    `lines` are whole, as they stand there, from line `start` on; `shown` are the same without secrets. `extra` counts
    for a claim as well: a commit's id, author, date and patch. `was_read`: by the run that the ledger is of. `about`
    says of a commit who made it and when, `caution` what is to be known before anybody relies on a note, `tool` and
    `call` whose result it is.
    """

    lines: tuple[str, ...]
    shown: tuple[str, ...]
    start: int = 1
    path: str | None = None
    commit: str | None = None
    place: Place | None = None
    extra: tuple[str, ...] = ()
    was_read: bool = False
    about: str = ""
    caution: str = ""
    tool: str | None = None
    call: int | None = None

    @property
    def source(self) -> str:
        """What the lines are of, as an address begins: a path, the number of a call, or the id of a commit."""
        return self.path or (str(self.call) if self.call else self.commit or "")

    @property
    def end(self) -> int:
        """The number of the last line."""
        return self.start + len(self.lines) - 1


class Missing(NamedTuple):
    """Why there are no lines at an address; `ok` is None where code cannot tell whether there are."""

    why: str
    ok: Literal[False] | None = False


Found = Lines | Missing


class CitedFile(NamedTuple):
    """A file of a repository: its path there, its lines, and where comments and strings stand."""

    path: str
    lines: Sequence[str]
    scan: Scan


@dataclass(frozen=True, slots=True)
class Sources:
    """Where citations are looked up; what was read once is kept, so it serves one draft.

    `heads` are the commits at which citations without one are printed, by the repository's root; None: HEAD.
    """

    repo: Repositories
    ledger: Ledger | None = None
    notes: NoteStore | None = None
    known_secrets: Collection[str] = ()
    heads: Mapping[Path, str] | None = None
    _commits: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False)
    _files: dict[tuple[Path, str, str], CitedFile | Missing] = field(default_factory=dict, repr=False)

    def commit(self, sha: str, path: str = "") -> str | None:
        """Return the full id of a commit that HEAD contains; None for any other, and for what is no id.

        With a cited `path` it is the HEAD of the repository that the path lies in, else that of any.
        """
        if (sha, path) not in self._commits:
            repo = self.repo.locate(path, sha).repo if path else self.repo.holder(sha)
            self._commits[sha, path] = repo.resolve_in("HEAD", sha) if sha != "HEAD" else None
        return self._commits[sha, path]

    def file(self, place: Located, commit: str) -> CitedFile | Missing:
        """Return the lines of a file that may be shown; else why there are none."""
        key = (place.repo.root, commit, place.path)
        if key not in self._files:
            self._files[key] = _read_file(place, commit)
        return self._files[key]

    def read_at(self, cited: CitedLines) -> str:
        """Return the commit at which the run read some lines, the latest; else where HEAD was when it began.

        Raises:
            ConfigError: the repository has no commit.
        """
        commits = dict.fromkeys(read.commit for read in reversed(self.ledger.reads)) if self.ledger else ()
        known = next((commit for commit in commits if self.was_read(cited, commit)), None)
        repo = self.repo.locate(cited.path).repo
        return known or (self.heads or {}).get(repo.root) or repo.head()

    def was_read(self, cited: CitedLines, commit: str) -> bool:
        """Whether the run read all of some lines at a commit."""
        return self.ledger is not None and self.ledger.covers(*cited, commit=commit)

    def redacted(self, lines: Sequence[str], start: int, end: int) -> tuple[str, ...]:
        """Return the lines `start`..`end` of a text without the secrets in them."""
        first = max(0, start - 1 - NEAR_LINES)
        clean = redact_lines(lines[first : end + NEAR_LINES], self.known_secrets)
        return tuple(clean[start - 1 - first : end - first])


def _read_file(place: Located, commit: str) -> CitedFile | Missing:
    repo, path = place
    entry = repo.entry_at(commit, path)
    if entry is None or entry.kind is not EntryKind.FILE:
        return Missing(f"there is no file {one_line(path, 80)!r} at {commit[:12]}")
    if entry.size > MAX_FILE_BYTES:
        return Missing(f"{path} has {entry.size:,} bytes, too many to look into", None)
    lines = file_lines(repo.blob(entry.blob))
    if lines is None:
        return Missing(f"{path} is binary or in no known encoding, so it has no lines", None)
    return CitedFile(path, lines, Scan(path, lines))


MAX_KEPT = 10_000


def stands_at_head(repo: GitRepo, head: str, path: str, quote: str) -> bool:
    """Whether printed lines stand in a file of a commit as they are, or redacted as they were printed.

    Raises:
        ProviderError: git cannot read the file.
    """
    entry = None if is_secret_file(path) else repo.entry_at(head, path)
    return entry is not None and entry.kind is EntryKind.FILE and _stands(repo, entry.blob, quote)


@lru_cache(maxsize=MAX_KEPT)
def _stands(repo: GitRepo, blob: str, quote: str) -> bool:
    lines = file_lines(repo.blob(blob)) or []
    if quoted_lines(quote, lines) is not None:
        return True
    return "[redacted" in quote and quoted_lines(quote, redact_lines(lines)) is not None


def stale_citations(repos: Repositories, cites: Sequence[NoteCitation]) -> StaleCitations:
    """Return those citations whose lines do not stand at HEAD.

    One whose commit no codebase has is of a codebase that is gone, unless it names one that is there.

    Raises:
        ProviderError: git cannot read the codebase.
        ConfigError: it has no commit.
    """
    heads: dict[Path, str] = {}
    changed, gone = list[NoteCitation](), list[NoteCitation]()
    for cite in cites:
        repo, path = repos.locate(cite.path, cite.commit)
        if repo.root not in heads:
            heads[repo.root] = repo.head()
        if not stands_at_head(repo, heads[repo.root], path, cite.quote):
            is_gone = path == cite.path and repo.resolve(cite.commit) is None
            (gone if is_gone else changed).append(cite)
    return StaleCitations(tuple(changed), tuple(gone))
