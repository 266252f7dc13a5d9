"""What heartbeats found that is still open, read from the data directory alone, for briefs and for the status.

The states are the beats' own; one that cannot be read is left out, for the bot sets it aside and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.domain.heartbeats.session_state import OpenFinding, SessionState
from bot.domain.severity import SIGNS, Severity
from bot.domain.text.sanitize import one_line

STATES: Final = "*/heartbeat_state.json"
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


def read_open_findings(home: Path, now: datetime) -> tuple[FindingLine, ...]:
    """Return every open finding of every session: pages first, then the oldest. Raises OSError."""
    found = [line for path in sorted((home / "sessions").glob(STATES)) for line in _lines(path, now)]
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


def _lines(path: Path, now: datetime) -> Iterator[FindingLine]:
    try:
        state = SessionState.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return
    yield from (_line(path.parent.name, each, now) for each in state.findings.values() if each.is_open)


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
