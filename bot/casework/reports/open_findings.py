"""What heartbeats found that is still open, read from the data directory alone, for briefs and for the status.

The states are the beats' own; one that cannot be read is left out, for the bot sets it aside and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.heartbeats.session_state import OpenFinding
from bot.domain.severity import SIGNS, Severity
from bot.domain.text.sanitize import one_line
from bot.ports import Store
from bot.ports.collections import SESSIONS, Collection

TEXT_CHARS: Final = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class FindingLine:
    """One open finding in a list; who has it is a Slack user id, or None."""

    session_id: str
    text: str
    severity: Severity
    since: datetime
    acknowledged_by: str | None = None
    investigated_by: str | None = None
    snoozed_until: datetime | None = None
    """None also where the time is over."""


def read_open_findings(store: Store, now: datetime) -> tuple[FindingLine, ...]:
    """Return every open finding of every session: pages first, then the oldest. Raises StoreError."""
    sessions = Collection(store.documents, SESSIONS)
    known = {one.id: sessions.parse(one) for one in store.documents.list(SESSIONS.name)}
    found = [
        _line(name, each, now)
        for name, state in known.items()
        if state is not None
        for each in state.findings.values()
        if each.is_open
    ]
    return tuple(sorted(found, key=lambda line: (line.severity.rank, line.since)))


def count_findings(found: Sequence[FindingLine]) -> str:
    """Return how many are open, in words: `2 open findings (1 page)`."""
    pages = sum(line.severity is Severity.PAGE for line in found)
    paging = f" ({pages} page{'s' * (pages != 1)})" if pages else ""
    return f"{len(found)} open finding{'s' * (len(found) != 1)}{paging}"


def sessions_in_words(found: Sequence[FindingLine], *, at_most: int) -> str:
    """Return which sessions have open findings, those with a page first and marked: `🚨 shop (2), docs (1)`."""
    counts = Counter(line.session_id for line in found)  # in the order of the findings: pages first
    paging = {line.session_id for line in found if line.severity is Severity.PAGE}
    named = [f"{SIGNS[Severity.PAGE]} {name}" if name in paging else name for name in counts]
    shown = [f"{name} ({count})" for name, count in zip(named, counts.values(), strict=True)][:at_most]
    left = len(counts) - len(shown)
    return ", ".join([*shown, *([f"{left} more"] if left else [])])


def _line(session_id: str, finding: OpenFinding, now: datetime) -> FindingLine:
    until = finding.snoozed_until
    return FindingLine(
        session_id=one_line(session_id, 60),
        text=one_line(finding.text, TEXT_CHARS),
        severity=finding.severity,
        since=finding.first_at,
        acknowledged_by=finding.acknowledged_by,
        investigated_by=finding.investigated_by,
        snoozed_until=until if until is not None and until > now else None,
    )
