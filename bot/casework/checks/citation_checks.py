"""Checks one citation: whether the cited place exists, and whether its quote stands there word for word.

Reads blobs and messages of commits in HEAD's history (never the work tree), the run's ledger and the notes in memory/.
Only code decides; no statement of a model makes a citation true. What code cannot look up is neither true nor false.
Files that hold secrets by name are not opened, so the result for them never depends on their content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from bot.agent.git.git_repo import EntryKind, split_lines
from bot.agent.git.repositories import Located, Repositories
from bot.agent.ledger import Ledger
from bot.agent.tools.snapshot import MAX_FILE_BYTES
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.domain.citations.citation_lines import MAX_LINES, CitedLines, parse_lines
from bot.domain.citations.prose_spans import Spans, prose_of, spans_of
from bot.domain.citations.verbatim_quotes import flaw_of, plain_text
from bot.domain.notes import RETIRED, stale_lines_notice
from bot.domain.returns import Check, EvidenceKind, EvidenceRef
from bot.domain.search.files import file_lines, is_secret_file
from bot.domain.text.sanitize import one_line
from bot.ports import NoteStore

MIN_CUT_CHARS: Final = 200
_NOT_COMPARED: Final = "not compared, since the citation does not resolve"


class CitationResult(NamedTuple):
    """What looking something up came to; `ok` is None where code cannot tell."""

    ok: bool | None
    reason: str


def to_check(name: str, finding: CitationResult) -> Check:
    """Return a result as a check of a draft."""
    return Check(name=name, ok=finding.ok, reason=finding.reason)


class Proof(NamedTuple):
    """Whether a citation resolves, and whether its quote is verbatim (None where there is nothing to compare)."""

    resolves: CitationResult
    quote: CitationResult | None

    @property
    def ok(self) -> bool | None:
        """Whether it holds: False if anything is refuted, None if anything cannot be looked up."""
        oks = [finding.ok for finding in self if finding is not None]
        return False if False in oks else None if None in oks else True


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationSources:
    """Where citations are looked up; what was resolved once is kept, so it serves one draft."""

    repo: Repositories
    ledger: Ledger | None = None
    notes: NoteStore | None = None
    _commits: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _texts: dict[tuple[str, str], _Text | CitationResult] = field(default_factory=dict)

    def commit(self, sha: str, path: str = "") -> str | None:
        """Return the full id of a commit that HEAD contains; None for any other, and for what is no id.

        With a cited `path` it is the HEAD of the repository that the path lies in, else that of any.
        """
        if (sha, path) not in self._commits:
            repo = self.repo.locate(path, sha).repo if path else self.repo.holder(sha)
            self._commits[sha, path] = repo.resolve_in("HEAD", sha) if sha != "HEAD" else None
        return self._commits[sha, path]

    def text(self, commit: str, path: str) -> _Text | CitationResult:
        """Return what can be quoted of a file; else why nothing can."""
        if (commit, path) not in self._texts:
            self._texts[commit, path] = _text_at(self.repo.locate(path, commit), commit)
        return self._texts[commit, path]


class _Text(NamedTuple):
    """Something that can be quoted: its lines, where in it people talk, and what it is called."""

    lines: Sequence[str]
    spans: Spans
    name: str


def check_citation(ref: EvidenceRef, sources: CitationSources) -> Proof:
    """Return what can be said of one citation."""
    if ref.kind is EvidenceKind.FILE:
        return _prove_file(ref, sources)
    if ref.kind is EvidenceKind.GIT_COMMIT:
        return _prove_commit(ref, sources)
    if ref.kind is EvidenceKind.LOG_QUERY:
        return _prove_query(ref, sources.ledger)
    if ref.kind is EvidenceKind.EXTERNAL_DOC:
        return Proof(
            CitationResult(None, f"{ref.ref} is outside the codebase; code cannot look it up"), _unchecked(ref)
        )
    return _prove_note(ref, sources)


def _prove_file(ref: EvidenceRef, sources: CitationSources) -> Proof:
    cited = parse_lines(ref.ref)
    if cited is None:
        return _unresolved(f"{ref.ref!r} is no file citation; one reads path:start-end or path:line")
    if problem := cited._replace(path=sources.repo.locate(cited.path, ref.commit).path).problem():
        return _unresolved(f"{ref.ref}: {problem}")
    if cited.is_too_long():
        return _unresolved(f"{ref.ref}: a citation has at most {MAX_LINES} lines; cite only those that matter")
    if ref.commit is None:
        return _unresolved(f"{ref.ref}: no commit recorded, so nobody can tell which version was read")
    if is_secret_file(cited.path):
        return _unresolved(f"{ref.ref}: a file of this name may hold secrets, so nobody reads or cites it")
    commit = sources.commit(ref.commit, cited.path)
    if commit is None:
        return _unresolved(f"{ref.ref}: there is no commit {ref.commit[:12]!r} in the history of HEAD")
    return _prove_lines(ref, cited, commit, sources.text(commit, cited.path))


def _prove_lines(ref: EvidenceRef, cited: CitedLines, commit: str, text: _Text | CitationResult) -> Proof:
    if isinstance(text, CitationResult):
        return Proof(text, None if text.ok is None else CitationResult(None, _NOT_COMPARED))
    if cited.end > len(text.lines):
        return _unresolved(f"{ref.ref}: the file has {len(text.lines)} lines at {commit[:12]}")
    found = CitationResult(True, f"{ref.ref} exists at {commit[:12]}")
    return Proof(found, _compare(ref, text, start=cited.start, end=cited.end))


def _text_at(place: Located, commit: str) -> _Text | CitationResult:
    repo, path = place
    entry = repo.entry_at(commit, path)
    if entry is None or entry.kind is not EntryKind.FILE:
        return CitationResult(False, f"there is no file {path!r} at {commit[:12]}")
    if entry.size > MAX_FILE_BYTES:
        return CitationResult(None, f"{path} has {entry.size:,} bytes, too many to look into")
    _, content = next(iter(repo.blobs([entry.blob])))
    lines = file_lines(content)
    if lines is None:
        return CitationResult(None, f"{path} is binary or in no known encoding, so it has no lines")
    return _Text(lines, spans_of(path, plain_text(lines)), "the cited lines")


def _prove_commit(ref: EvidenceRef, sources: CitationSources) -> Proof:
    commit = sources.commit(ref.ref)
    if commit is None:
        return _unresolved(f"there is no commit {ref.ref[:40]!r} in the history of HEAD")
    if ref.commit is not None and sources.commit(ref.commit) != commit:
        return _unresolved(f"{ref.ref[:12]} and {ref.commit[:12]!r} are not the same commit")
    found = CitationResult(True, f"commit {commit[:12]} exists")
    if not ref.quote.strip():
        return Proof(
            found, CitationResult(None, f"commit {commit[:12]} is cited without a quote; quote a line of its message")
        )
    _, content = next(iter(sources.repo.holder(commit).blobs([commit])))
    message = split_lines(content.partition(b"\n\n")[2])
    text = _Text(message, prose_of(plain_text(message)), f"the message of {commit[:12]}")
    return Proof(found, _compare(ref, text))


def _prove_query(ref: EvidenceRef, ledger: Ledger | None) -> Proof:
    """Return whether an MCP server was asked, and whether it answered what is quoted."""
    if ledger is None:
        return _unresolved(f"{ref.ref[:80]!r}: without a ledger no query can be shown to have been made")
    asked = ledger.asked_servers(ref.ref)
    if not asked:
        return _unresolved(f"{ref.ref[:80]!r} was never asked of a log or data server in this run")
    found = CitationResult(True, f"{ref.ref[:80]!r} was queried in this run")
    results = [entry.result for entry in asked if entry.result is not None]
    if not ref.quote.strip() or not results:
        return Proof(
            found, CitationResult(None, f"{ref.ref[:80]}: there is no quote that code can compare with the result")
        )
    texts = [split_lines(result.encode("utf-8", "replace")) for result in results]
    compared = [_compare(ref, _Text(lines, Spans(()), "the result")) for lines in texts]
    return Proof(found, next((one for one in compared if one.ok), compared[-1]))


def _prove_note(ref: EvidenceRef, sources: CitationSources) -> Proof:
    """A note in memory/ is read; an earlier reply can only be seen to have come up in this run's search.

    A note whose own lines have changed proves nothing of the code.
    """
    name = ref.ref.removeprefix("memory/")
    if sources.notes is None or ref.ref.startswith("reply/"):
        came_up = sources.ledger is not None and sources.ledger.came_up(ref.ref)
        reason = f"{ref.ref} came up in this run" if came_up else f"{ref.ref} is not in this run's ledger"
        return Proof(CitationResult(True if came_up else None, reason), _unchecked(ref))
    if RETIRED in PurePosixPath(name).parts[:-1]:
        return _unresolved(f"{ref.ref[:80]} was retired; it is no evidence any more")
    note = next((note for note in sources.notes.all() if note.ref == f"memory/{name}"), None)
    if note is None:
        return _unresolved(f"there is no note {ref.ref[:80]!r} in memory/")
    warning = stale_lines_notice(CitationStaleness(sources.repo).stale(note.cites))
    found = CitationResult(None, f"{ref.ref}: {warning}") if warning else CitationResult(True, f"{ref.ref} exists")
    lines = note.text.split("\n")
    whole = ref.model_copy(update={"quote": _to_line_end(ref.quote, plain_text(lines))})
    return Proof(found, _compare(whole, _Text(lines, prose_of(plain_text(lines)), "that note")))


def _to_line_end(quote: str, text: str) -> str:
    """Return a long quotation of a note up to the end of its line: a search shows no more than the beginning of one."""
    at = text.find(quote) if len(quote) >= MIN_CUT_CHARS else -1
    end = at + len(quote)
    if at < 0 or not text[end : end + 1].isspace():
        return quote
    return quote + text[end:].partition("\n")[0]


def _compare(ref: EvidenceRef, text: _Text, *, start: int = 1, end: int | None = None) -> CitationResult:
    if not ref.quote.strip():
        return CitationResult(False, f"{ref.ref}: the quote is empty; quote at least a whole line")
    flaw = flaw_of(ref.quote, text.lines, text.spans, start=start, end=end)
    if flaw is None:
        return CitationResult(True, f"{ref.ref}: the quote is verbatim")
    return CitationResult(False, f"{ref.ref}: “{one_line(ref.quote, 60)}” in {text.name} {flaw}")


def _unchecked(ref: EvidenceRef) -> CitationResult | None:
    return (
        CitationResult(None, f"{ref.ref[:80]}: code cannot compare this quote with its source")
        if ref.quote.strip()
        else None
    )


def _unresolved(reason: str) -> Proof:
    return Proof(CitationResult(False, reason), CitationResult(None, _NOT_COMPARED))
