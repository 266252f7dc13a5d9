"""Reads what a citation points at, for a person: its lines with the lines around them, or the commit.

Reads blobs and commits of the codebase, never the work tree. Whole files are redacted before lines are taken out of
them, and files that hold secrets by name are not opened. bot/casework/checks/citation_checks.py decides whether the
citation holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import EntryKind
from bot.agent.git.repositories import Located, Repositories
from bot.domain.citations.citation_lines import CitedLines, parse_lines, quoted_lines
from bot.domain.returns import Check, EvidenceKind, EvidenceRef
from bot.domain.search.files import file_lines, is_secret_file
from bot.domain.secrets import redact, redact_lines
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import CodebaseUnreadable, ProviderError

NEIGHBOURS: Final = 3
"""How many lines before and after a quotation are shown with it."""

MAX_FILE_BYTES: Final = 2_000_000
MAX_LINE_CHARS: Final = 240


class NumberedLine(NamedTuple):
    """One line of a file as it may be shown; `quoted` if the quotation stands in it."""

    number: int
    text: str
    quoted: bool

    def shown(self, width: int) -> str:
        """Return the line behind its number (`width` digits wide), with a mark if it is quoted.

        It stays one line and in its order, whatever separators and overrides of direction the file holds.
        """
        clean = strip_hidden(self.text)[0].replace("\n", " ")
        more = len(clean) - MAX_LINE_CHARS
        text = f"{clean[:MAX_LINE_CHARS]} … {more} more characters" if more > 0 else clean
        return f"{'→' if self.quoted else ' '} {self.number:>{width}}  {text}".rstrip()


class ShownLines(NamedTuple):
    """The cited lines of a file and a few around them."""

    lines: tuple[NumberedLine, ...]

    def shown(self, most: int | None = None) -> list[str]:
        """Return the lines as text, the first `most` of them, their numbers in one column.

        >>> ShownLines((NumberedLine(9, "def f():", False), NumberedLine(10, "    return 5", True))).shown()
        ['   9  def f():', '→ 10      return 5']
        """
        width = len(str(self.lines[-1].number)) if self.lines else 0
        return [line.shown(width) for line in self.lines[:most]]


class CommitFacts(NamedTuple):
    """A commit as its author made it; `date` is yyyy-mm-dd."""

    sha: str
    subject: str
    author: str
    date: str


class EvidenceMissing(NamedTuple):
    """Why there is nothing to read here."""

    why: str


Shown = ShownLines | CommitFacts | EvidenceMissing


class ShownCitation(NamedTuple):
    """One citation of a draft: what the checks said of it (None: not for code to say) and why, and what is there.

    `quote` is the citation's own, without credentials.
    """

    ref: EvidenceRef
    mark: bool | None
    reason: str
    quote: str
    shown: Shown


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceReader:
    """Reads what citations point at in the codebases of one team."""

    repo: Repositories
    known_secrets: Collection[str] = ()

    def citations(self, state: ThreadState, *, at_most: int) -> list[ShownCitation]:
        """Return the citations of a thread's latest draft, up to so many, each with its mark and what it points at."""
        checks = state.checks
        return [
            ShownCitation(
                ref, mark, _reason(checks, index, mark), redact(ref.quote, self.known_secrets), self.read(ref)
            )
            for index, (ref, mark) in enumerate(state.citations[:at_most])
        ]

    def read(self, ref: EvidenceRef) -> Shown:
        """Return what a citation points at; git's failures are a reason to show nothing."""
        readers: dict[EvidenceKind, Callable[[EvidenceRef], Shown]] = {
            EvidenceKind.FILE: self._file,
            EvidenceKind.GIT_COMMIT: self._commit,
        }
        try:
            return readers.get(ref.kind, _outside)(ref)
        except (ProviderError, CodebaseUnreadable):
            return EvidenceMissing("git could not read it")

    def _file(self, ref: EvidenceRef) -> Shown:
        cited = parse_lines(ref.ref)
        if cited is None:
            return EvidenceMissing("it names no lines of a file at a commit")
        place = self.repo.locate(cited.path, ref.commit)
        commit = place.repo.resolve_in("HEAD", ref.commit or "")
        if commit is None or cited._replace(path=place.path).problem():
            return EvidenceMissing("it names no lines of a file at a commit")
        lines = self._lines(commit, place)
        if isinstance(lines, EvidenceMissing):
            return lines
        if cited.end > len(lines):
            return EvidenceMissing(f"the file has {len(lines)} lines at that commit")
        return _passage(ref, cited, lines, redact_lines(lines, self.known_secrets))

    def _lines(self, commit: str, place: Located) -> list[str] | EvidenceMissing:
        repo, path = place
        if is_secret_file(path):
            return EvidenceMissing("the file may hold secrets, so it is not shown")
        entry = repo.entry_at(commit, path)
        if entry is None or entry.kind is not EntryKind.FILE:
            return EvidenceMissing("there is no such file at that commit")
        if entry.size > MAX_FILE_BYTES:
            return EvidenceMissing(f"the file has {entry.size:,} bytes, too many to show")
        _, content = next(iter(repo.blobs([entry.blob])))
        lines = file_lines(content)
        return EvidenceMissing("the file is no text") if lines is None else lines

    def _commit(self, ref: EvidenceRef) -> Shown:
        repo = self.repo.holder(ref.ref)
        sha = repo.resolve_in("HEAD", ref.ref) if ref.ref != "HEAD" else None
        if sha is None:
            return EvidenceMissing("there is no such commit")
        (commit,) = GitHistory(repo).commits(sha, limit=1)
        subject, author = redact_lines([commit.subject, commit.author], self.known_secrets)
        return CommitFacts(sha=sha, subject=subject, author=author, date=commit.date)


def _reason(checks: Sequence[Check], index: int, mark: bool | None) -> str:
    """Return why a citation has its mark, in the words of the first check that gave it."""
    mine = (check for check in checks if check.name.startswith(f"ref[{index}].") and check.ok is mark)
    return next((check.reason for check in mine), "" if mark else "its check was not recorded")


def _outside(_: EvidenceRef) -> Shown:
    return EvidenceMissing("it is outside the codebase")


def _passage(ref: EvidenceRef, cited: CitedLines, lines: list[str], clean: list[str]) -> ShownLines:
    """Return the quoted lines with their neighbours; of a quotation that does not stand there, the cited lines."""
    found = quoted_lines(ref.quote, lines[cited.start - 1 : cited.end])
    first, last = (cited.start + found[0], cited.start + found[-1]) if found else (cited.start, cited.end)
    begin, end = max(1, first - NEIGHBOURS), min(len(lines), last + NEIGHBOURS)
    marked = range(first, last + 1) if found else range(0)
    return ShownLines(tuple(NumberedLine(n, clean[n - 1], n in marked) for n in range(begin, end + 1)))
