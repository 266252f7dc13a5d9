"""What would have been sent without a human under SPEC §7, and how often a human thought otherwise. Pure; report only.

A draft that qualifies and that somebody edited or dismissed is a false positive. Working hours are not looked at, which
makes the measure stricter: more drafts are counted than would be sent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bot.casework.reports.journal_history import JournalHistory
from bot.casework.reports.measures import Window, share
from bot.domain.questions.risk_gate import risky_advice
from bot.domain.returns import Verdict
from bot.domain.threads import QuestionType, Resolution, ThreadState

WEEKS: Final = 4
LIMIT: Final = 0.02
ENOUGH: Final = 50
"""Decided drafts below which one mistake more or less decides."""
_TYPES: Final = frozenset({QuestionType.TECHNICAL_QA, QuestionType.API_CONTRACT, QuestionType.DATA_LOOKUP})
_AS_DRAFTED: Final = frozenset({Resolution.APPROVED, Resolution.AUTO})
_DECIDED: Final = _AS_DRAFTED | {Resolution.EDITED, Resolution.DISMISSED}


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
    mentions = {(each.chat_id, each.message_id) for each in past.heard if each.is_bot_mention}
    weeks = [[each for each in past.threads if week.holds(each.started_at)] for week in window.weeks(WEEKS)]
    found = [[each for each in threads if _qualifies(each, mentions)] for threads in weeks]
    every = [each for threads in found for each in threads]
    false = [each for each in every if each.resolution not in _AS_DRAFTED]
    return AutonomyMetrics(
        qualified=len(every),
        false=len(false),
        risky_false=sum(_is_risky(each) for each in false),
        weekly=[share(sum(each in false for each in threads), len(threads)) for threads in found],
        missing=_missing(len(every), found),
    )


def _missing(n: int, weeks: Sequence[Sequence[ThreadState]]) -> str:
    if n < ENOUGH:
        return f"{n} of {ENOUGH} decided drafts"
    empty = sum(not week for week in weeks)
    return f"{empty} of {WEEKS} weeks without such a draft" if empty else ""


def _qualifies(thread: ThreadState, mentions: Collection[tuple[str, str]]) -> bool:
    """Whether a draft was decided and had everything §7 asks for."""
    first = thread.rounds[0] if thread.rounds else None
    verdict = first.validator_return if first else None
    return (
        thread.resolution in _DECIDED
        and (thread.chat_id, thread.original_message_id) in mentions
        and thread.question_type in _TYPES
        and not thread.is_escalated
        and first is not None
        and first.round == 1
        and first.investigator_return.confidence == "high"
        and verdict is not None
        and verdict.verdict is Verdict.PASS
        and verdict.risk_gate_check == "passes"
    )


def _is_risky(thread: ThreadState) -> bool:
    """Whether a draft touches what runs: it proposes a patch, or advises what breaks things when it is wrong."""
    ret = thread.rounds[0].investigator_return
    return ret.proposed_patch is not None or bool(risky_advice(ret.draft_reply))
