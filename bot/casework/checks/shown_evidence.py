"""What people see of a draft's evidence: each citation with its mark and the lines at its address.

The lines are looked up anew, from the codebase, the run's ledger and the notes, and are redacted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot.agent.git.repositories import Repositories
from bot.agent.run_records import RunRecorder
from bot.casework.checks.addresses import address_checks, resolve, stands_at
from bot.casework.checks.sources import Found, Lines, Missing, Sources, stands_at_head
from bot.domain.returns import EvidenceKind, EvidenceRef, why_marked
from bot.domain.secrets import redact
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError
from bot.ports import NoteStore

MAX_LINE_CHARS: Final = 240


class ShownCitation(NamedTuple):
    """One citation of a draft: what the checks said of it (None: not for code to say) and why, and what is there.

    `strange_quote` is what came with it and does not stand there, without credentials. `is_changed`: whether the lines
    of a file are not in it any more; None where that cannot be said.
    """

    ref: EvidenceRef
    mark: bool | None
    reason: str
    found: Found
    strange_quote: str = ""
    is_changed: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceReader:
    """Reads what the citations of a team's drafts point at."""

    repo: Repositories
    known_secrets: Collection[str] = ()
    runs: RunRecorder | None = None
    notes: NoteStore | None = None

    def citations(self, state: ThreadState, *, at_most: int) -> list[ShownCitation]:
        """Return the citations of a thread's latest draft, up to so many; raises StoreError."""
        run = state.investigator_task_id
        ledger = self.runs.ledger(run) if self.runs and run else None
        sources = Sources(self.repo, ledger, self.notes, self.known_secrets)
        return [
            self._shown(ref, mark, why_marked(state.checks, index, mark), sources)
            for index, (ref, mark) in enumerate(state.citations[:at_most])
        ]

    def _shown(self, ref: EvidenceRef, mark: bool | None, reason: str, sources: Sources) -> ShownCitation:
        found = found_or_why(ref, sources)
        is_there = isinstance(found, Lines) and stands_at(ref.quote, found)
        quote = "" if is_there else redact(ref.quote, self.known_secrets)
        open_now = next((check for check in address_checks(0, ref, found) if check.ok is not True), None)
        if mark and open_now is not None:  # a ✓ is for what was just read
            mark, reason = None, open_now.reason
        return ShownCitation(ref, mark, reason, found, quote, self._is_changed(ref, found))

    def _is_changed(self, ref: EvidenceRef, found: Found) -> bool | None:
        if ref.kind is not EvidenceKind.FILE or not isinstance(found, Lines) or found.path is None:
            return None
        try:
            repo, path = self.repo.locate(found.path, found.commit)
            return not stands_at_head(repo, repo.head(), path, "\n".join(found.lines))
        except (ProviderError, ConfigError, CodebaseUnreadable):
            return None


def found_or_why(ref: EvidenceRef, sources: Sources) -> Found:
    """Return what stands at an address; git's failures are a reason to show nothing."""
    try:
        return resolve(ref, sources)
    except (ProviderError, CodebaseUnreadable):
        return Missing("git could not read it", None)


def printed_lines(found: Lines) -> list[str]:
    r"""Return the lines behind their numbers, in one column; a commit's message without.

    Each stays one line and in its order, whatever separators and overrides of direction it holds.

    >>> printed_lines(Lines(lines=("a", "b"), shown=("a", "b\u2028c"), start=9, path="x.py"))
    [' 9  a', '10  b c']
    """
    if not found.path and not found.call:
        return [_plain(line) for line in found.shown]
    width = len(str(found.end))
    return [f"{at:>{width}}  {_plain(line)}".rstrip() for at, line in enumerate(found.shown, found.start)]


def _plain(line: str) -> str:
    clean = strip_hidden(line)[0].replace("\n", " ")
    more = len(clean) - MAX_LINE_CHARS
    return f"{clean[:MAX_LINE_CHARS]} … {more} more characters" if more > 0 else clean
