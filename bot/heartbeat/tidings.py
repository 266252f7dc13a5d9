"""What a beat has to tell, and what was said of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.domain.beats import Delivered, Finding, Wake
from bot.domain.session import KEPT_OPENINGS, OpenFinding, Removal, SessionState
from bot.domain.severity import highest
from bot.domain.tiers import Tier

REASONING_CHARS = 1_500
NOTES, NOTE_CHARS = 10, 900
"""What is kept of the small print, so that a card can be drawn again as it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a beat has to tell.

    `findings` is what it sees now; of the checks in `checked` everything else that was open is gone. `standing` are the
    checks that are still made: what is open of any other is closed without a word that all is well (None: not known).
    `removals` says who took which check out. `ok_text` is said where the session asks to hear that all is well.
    """

    findings: tuple[Finding, ...]
    checked: frozenset[str]
    at: datetime
    wake: Wake
    tier: Tier | None
    ok_text: str = ""
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    standing: frozenset[str] | None = None
    removals: Mapping[str, Removal] = field(default_factory=dict)
    is_file_gone: bool = False


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

    One whose check was only out of the playbook goes on: whoever acknowledged or snoozed it has not taken that back.
    A beat that has nothing to add leaves the small print of an earlier one.
    """
    at, print_ = outcome.at, _small_print(outcome, reasoned=reasoned)
    same = {"text": found.text, "check": found.check or (known.check if known else "")}
    if known is None or not known.is_remembered:
        opened = (*(_openings(known) if known else ()), at)[-KEPT_OPENINGS:]
        return OpenFinding(
            key=found.key,
            task=found.task or "",
            severity=found.severity,
            opened=opened,
            first_at=at,
            last_at=at,
            **same,
            **print_,
        )
    severity = highest([known.severity, found.severity])  # other words make it no less urgent
    return known.evolve(severity=severity, last_at=max(at, known.last_at), removed=None, **same, **print_)


def _openings(known: OpenFinding) -> tuple[datetime, ...]:
    """Return when a finding was opened before; a record of an older version knows the last time only."""
    return known.opened or (known.first_at,)


def ended(state: SessionState, outcome: Outcome) -> Iterator[OpenFinding]:
    """Yield what a beat closes, as it stands then: gone from a check that was made, or without its check."""
    now = {found.key for found in outcome.findings}
    for each in state.findings.values():
        if not each.is_remembered or each.key in now:
            continue
        if each.task in outcome.checked:
            yield each.evolve(resolved_at=outcome.at, snoozed_until=None, removed=None)
        elif each.is_open and outcome.standing is not None and each.task not in outcome.standing:
            yield each.evolve(removed=_removal(each, outcome))


def _removal(finding: OpenFinding, outcome: Outcome) -> Removal:
    if outcome.is_file_gone:
        return Removal(at=outcome.at, is_file_gone=True)
    known = outcome.removals.get(finding.task)
    return Removal(at=outcome.at, by=known.by if known else "")


def _small_print(outcome: Outcome, *, reasoned: bool) -> dict[str, Any]:
    notes = tuple(note[:NOTE_CHARS] for note in outcome.notes[:NOTES])
    reasoning = (outcome.reasoning or "")[:REASONING_CHARS] if reasoned else ""
    return {**({"notes": notes} if notes else {}), **({"reasoning": reasoning} if reasoning else {})}


def preview_of(outcome: Outcome) -> str:
    """Return the words a record shows of an outcome nobody was told."""
    return outcome.findings[0].text if outcome.findings else outcome.ok_text
