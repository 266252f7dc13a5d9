"""Proves or refutes one citation: is it there, and does its quote stand in it, word for word?

Reads blobs and messages of commits (never the work tree), the run's ledger and the notes in memory/. Only code decides
here; nothing a model says makes a citation true. What code has no way to look up is neither true nor false.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from bot.agent.git import GitRepo, split_lines
from bot.agent.ledger import Ledger
from bot.casework.standing import Standing
from bot.domain.cautions import caution
from bot.domain.citations import parse_lines, stands_in
from bot.domain.hidden import one_line
from bot.domain.note_facts import RETIRED, NoteFacts
from bot.domain.notes import note_words
from bot.domain.returns import EvidenceKind, EvidenceRef

MIN_QUOTE_CHARS: Final = 3
MAX_NOTE_BYTES: Final = 1_000_000

_SHA: Final = re.compile(r"[0-9a-f]{7,64}")


class Finding(NamedTuple):
    """What looking something up came to; `ok` is None where code cannot tell."""

    ok: bool | None
    reason: str


class Proof(NamedTuple):
    """Whether a citation resolves, and whether its quote is verbatim (None where there is nothing to compare)."""

    resolves: Finding
    quote: Finding | None

    @property
    def ok(self) -> bool | None:
        """Whether it holds: False if anything is refuted, None if anything cannot be looked up."""
        oks = [finding.ok for finding in self if finding is not None]
        return False if False in oks else None if None in oks else True


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Where citations are looked up."""

    repo: GitRepo
    ledger: Ledger | None = None
    memory: Path | None = None


def prove(ref: EvidenceRef, sources: Sources) -> Proof:
    """Return what can be said of one citation."""
    if ref.kind is EvidenceKind.FILE:
        return _prove_file(ref, sources.repo)
    if ref.kind is EvidenceKind.GIT_COMMIT:
        return _prove_commit(ref, sources.repo)
    if ref.kind is EvidenceKind.LOG_QUERY:
        return _prove_query(ref, sources.ledger)
    if ref.kind is EvidenceKind.EXTERNAL_DOC:
        return Proof(Finding(None, f"{ref.ref} lies outside; code cannot look it up"), _unchecked(ref))
    return _prove_note(ref, sources)


def _prove_file(ref: EvidenceRef, repo: GitRepo) -> Proof:
    cited = parse_lines(ref.ref)
    if cited is None:
        return _unresolved(f"{ref.ref!r} is no file citation; one reads path:start-end or path:line")
    if problem := cited.problem():
        return _unresolved(f"{ref.ref}: {problem}")
    if ref.commit is None:
        return _unresolved(f"{ref.ref}: no commit recorded, so nobody can tell which version was read")
    commit = _resolve(repo, ref.commit)
    if commit is None:
        return _unresolved(f"{ref.ref}: there is no commit {ref.commit[:12]!r}")
    lines = repo.lines_at(commit, cited.path)
    if lines is None:
        return _unresolved(f"{ref.ref}: no such file at {commit[:12]}")
    if cited.end > len(lines):
        return _unresolved(f"{ref.ref}: the file has {len(lines)} lines at {commit[:12]}")
    found = Finding(True, f"{ref.ref} exists at {commit[:12]}")
    return Proof(found, _compare(ref, lines[cited.start - 1 : cited.end], "the cited lines"))


def _resolve(repo: GitRepo, sha: str) -> str | None:
    """Return the full id of a commit named by its id; a branch whose name looks like one is none."""
    full = repo.resolve(sha) if _SHA.fullmatch(sha) else None
    return full if full is not None and full.startswith(sha) else None


def _prove_commit(ref: EvidenceRef, repo: GitRepo) -> Proof:
    commit = _resolve(repo, ref.ref)
    if commit is None:
        return _unresolved(f"there is no commit {ref.ref[:40]!r}")
    if ref.commit is not None and _resolve(repo, ref.commit) != commit:
        return _unresolved(f"{ref.ref[:12]} and {ref.commit[:12]!r} are not the same commit")
    found = Finding(True, f"commit {commit[:12]} exists")
    if not ref.quote.strip():
        return Proof(found, None)
    _, content = next(iter(repo.blobs([commit])))
    message = split_lines(content.partition(b"\n\n")[2])
    return Proof(found, _compare(ref, message, f"the message of {commit[:12]}"))


def _prove_query(ref: EvidenceRef, ledger: Ledger | None) -> Proof:
    if ledger is None:
        return _unresolved(f"{ref.ref[:80]!r}: without a ledger no query can be shown to have been made")
    if not ledger.has_query(ref.ref):
        return _unresolved(f"{ref.ref[:80]!r} was never queried in this run")
    return Proof(Finding(True, f"{ref.ref[:80]!r} was queried in this run"), _unchecked(ref))


def _prove_note(ref: EvidenceRef, sources: Sources) -> Proof:
    """A note in memory/ is read; an earlier reply can only be seen to have come up in this run's search.

    A lesson from a draft proves nothing of the code, and neither does a note whose own lines have changed.
    """
    name = ref.ref.removeprefix("memory/")
    if sources.memory is None or ref.ref.startswith("reply/"):
        came_up = sources.ledger is not None and sources.ledger.came_up(ref.ref)
        reason = f"{ref.ref} came up in this run" if came_up else f"{ref.ref} is not in this run's ledger"
        return Proof(Finding(True if came_up else None, reason), _unchecked(ref))
    folder = sources.memory.resolve()
    try:
        path = (folder / name).resolve() if "\0" not in name else folder
        if not path.is_relative_to(folder) or not path.is_file() or path.stat().st_size > MAX_NOTE_BYTES:
            return _unresolved(f"there is no note {ref.ref[:80]!r} in memory/")
        if RETIRED in path.relative_to(folder).parts[:-1]:
            return _unresolved(f"{ref.ref[:80]} was retired; it is no evidence any more")
        text = "\n".join([*split_lines(path.read_bytes()), ""])
    except (OSError, RuntimeError) as error:  # no name of a file, gone a moment ago, a link to itself
        return _unresolved(f"the note {ref.ref[:80]!r} cannot be read: {getattr(error, 'strerror', None) or error}")
    facts = NoteFacts.read(text)
    changed = Standing(sources.repo).changed(facts.cites)
    warning = caution(facts.kind, changed)
    found = Finding(None, f"{ref.ref}: {warning}") if warning else Finding(True, f"{ref.ref} exists")
    return Proof(found, _compare(ref, note_words(text).split("\n"), "that note"))


def _compare(ref: EvidenceRef, lines: list[str], where: str) -> Finding:
    if len("".join(ref.quote.split())) < MIN_QUOTE_CHARS:
        return Finding(
            False, f"{ref.ref}: the quote is empty or too short to prove anything; quote at least a few words"
        )
    if stands_in(ref.quote, lines):
        return Finding(True, f"{ref.ref}: the quote is verbatim")
    first = one_line(ref.quote, 60)
    return Finding(False, f"{ref.ref}: “{first}” does not stand in {where}; quote them verbatim")


def _unchecked(ref: EvidenceRef) -> Finding | None:
    return (
        Finding(None, f"{ref.ref[:80]}: code cannot compare this quote with its source") if ref.quote.strip() else None
    )


def _unresolved(reason: str) -> Proof:
    return Proof(Finding(False, reason), Finding(None, "not compared, since the citation does not resolve"))
