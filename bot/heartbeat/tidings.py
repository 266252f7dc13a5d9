"""What a beat has to tell, and what was said of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.beats import Delivered, Finding, Wake
from bot.domain.session import KEPT_OPENINGS, OpenFinding
from bot.domain.severity import highest
from bot.domain.tiers import Tier

REASONING_CHARS = 1_500
NOTES, NOTE_CHARS = 10, 900
"""What is kept of the small print, so that a card can be drawn again as it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a beat has to tell.

    `findings` is what it sees now; of the tasks in `checked` everything else that was open is gone. `ok_text` is said
    where the session asks to hear that all is well.
    """

    findings: tuple[Finding, ...]
    checked: frozenset[str]
    at: datetime
    wake: Wake
    tier: Tier | None
    ok_text: str = ""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What was said: `delivered` is None where nothing was; `problem` is why something could not be."""

    delivered: Delivered | None = None
    preview: str = ""
    suppressed: tuple[str, ...] = ()
    problem: str | None = None
    says_ok: bool = False

    @property
    def silent(self) -> bool:
        """Whether nobody heard anything."""
        return self.delivered is None


def seen(known: OpenFinding | None, found: Finding, outcome: Outcome, *, reasoned: bool) -> OpenFinding:
    """Return a finding as it stands now; one that was closed begins anew.

    A beat that has nothing to add leaves the small print of an earlier one.
    """
    at, print_ = outcome.at, _small_print(outcome, reasoned=reasoned)
    if known is None or not known.is_open:
        opened = (*(_openings(known) if known else ()), at)[-KEPT_OPENINGS:]
        return OpenFinding(
            key=found.key,
            task=found.task or "",
            text=found.text,
            severity=found.severity,
            opened=opened,
            first_at=at,
            last_at=at,
            **print_,
        )
    severity = highest([known.severity, found.severity])  # other words make it no less urgent
    return known.evolve(text=found.text, severity=severity, last_at=max(at, known.last_at), **print_)


def _openings(known: OpenFinding) -> tuple[datetime, ...]:
    """Return when a finding was opened before; a record of an older version knows the last time only."""
    return known.opened or (known.first_at,)


def _small_print(outcome: Outcome, *, reasoned: bool) -> dict[str, Any]:
    notes = tuple(note[:NOTE_CHARS] for note in outcome.notes[:NOTES])
    reasoning = (outcome.reasoning or "")[:REASONING_CHARS] if reasoned else ""
    return {**({"notes": notes} if notes else {}), **({"reasoning": reasoning} if reasoning else {})}


def preview_of(outcome: Outcome) -> str:
    """Return the words a record shows of an outcome nobody was told."""
    return outcome.findings[0].text if outcome.findings else outcome.ok_text
