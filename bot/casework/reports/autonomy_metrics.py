"""What would have been sent without a human under SPEC §7, and how often a human thought otherwise. Pure; report only.

A draft that qualifies and that somebody edited or dismissed is a false positive. Working hours are not looked at, which
makes the measure stricter: more drafts are counted than would be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.casework.reports.journal_history import JournalHistory
from bot.casework.reports.measures import Window, share
from bot.casework.reports.thread_facts import AS_DRAFTED, QualifiedDraft

WEEKS: Final = 4
LIMIT: Final = 0.02
ENOUGH: Final = 50
"""Decided drafts below which one mistake more or less decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AutonomyMetrics:
    """The measure over four weeks; `weekly` has a rate for each week, the latest first, None for one without drafts."""

    qualified: int
    false: int
    risky_false: int
    weekly: Sequence[float | None]
    missing: str

    @property
    def rate(self) -> float | None:
        """The share of qualified drafts that a human did not send as they were."""
        return share(self.false, self.qualified)

    @property
    def ok(self) -> bool | None:
        """Whether the measure is good enough; None where it rests on too little."""
        if self.missing or self.rate is None:
            return None
        return self.risky_false == 0 and all(rate is not None and rate <= LIMIT for rate in self.weekly)


def unattended(past: JournalHistory, window: Window) -> AutonomyMetrics:
    """Return the measure of the four weeks up to a window's end."""
    mentions = past.heard.mentions
    weeks = [_drafts_of(past, week) for week in window.weeks(WEEKS)]
    found = [[each for each in drafts if (each.chat_id, each.message_id) in mentions] for drafts in weeks]
    every = [each for threads in found for each in threads]
    false = [each for each in every if each.resolution not in AS_DRAFTED]
    return AutonomyMetrics(
        qualified=len(every),
        false=len(false),
        risky_false=sum(each.is_risky for each in false),
        weekly=[share(sum(each.resolution not in AS_DRAFTED for each in threads), len(threads)) for threads in found],
        missing=_missing(len(every), found),
    )


def _drafts_of(past: JournalHistory, window: Window) -> list[QualifiedDraft]:
    """Return the drafts of the threads opened in a window."""
    start, end = window.bounds_us
    return [draft for draft in past.drafts if start <= draft.started_us < end]


def _missing(n: int, weeks: Sequence[Sequence[QualifiedDraft]]) -> str:
    if n < ENOUGH:
        return f"{n} of {ENOUGH} decided drafts"
    empty = sum(not week for week in weeks)
    return f"{empty} of {WEEKS} weeks without such a draft" if empty else ""
