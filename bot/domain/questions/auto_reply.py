"""When a reply may be sent without a human: what is asked of the draft, and of the team's record. Pure.

Every condition is a code, whether it holds, and its figure in words. A draft is sent only while all of both hold; what
watches over the record is bot/domain/questions/arming.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pydantic import AwareDatetime

from bot.domain.frozen_value import FrozenValue
from bot.domain.questions.conditions import Condition, ConditionCode
from bot.domain.returns import Verdict
from bot.domain.threads import QuestionType, Resolution, ThreadState
from bot.errors import InputError

TYPES: Final = frozenset({QuestionType.TECHNICAL_QA, QuestionType.API_CONTRACT, QuestionType.DATA_LOOKUP})
AS_DRAFTED: Final = frozenset({Resolution.APPROVED, Resolution.AUTO})
DECIDED: Final = AS_DRAFTED | {Resolution.EDITED, Resolution.DISMISSED}
"""How a draft ended on which somebody decided, or which was sent automatically and may be taken back."""

WEEKS: Final = 4
ENOUGH: Final = 40
"""Decided drafts in these weeks below which nothing is armed."""

LIMIT: Final = 0.02
"""The share of false positives that no week may exceed."""


_ID: Final = re.compile("[0-9a-f]{16}")


def check_auto_reply_id(text: str) -> str:
    """Return an id if it has the form of one; raises InputError."""
    if not _ID.fullmatch(text):
        raise InputError(f"{text[:40]!r} is not the id of an automatic reply")
    return text


class AutoReply(FrozenValue):
    """A reply that was sent automatically, and its audit card; it counts as a false positive once it is taken back."""

    id: str
    thread_id: str
    chat_id: str
    message_id: str
    question: str
    reply: str
    permalink: str | None = None
    at: AwareDatetime
    posted_message_id: str | None = None
    """None until the thread is closed: nothing may stand there yet."""
    card_channel: str | None = None
    card_ts: str | None = None
    taken_back_by: str | None = None
    taken_back_at: AwareDatetime | None = None
    is_withdrawn: bool = False
    """Whether the reply in the asker's thread says that it was taken back."""
    shows_taken_back: bool | None = None
    """What the card said last; None: there is no card."""

    @property
    def is_settled(self) -> bool:
        """Whether the card, and the reply, say how it stands."""
        is_back = self.taken_back_by is not None
        return self.shows_taken_back is is_back and self.is_withdrawn is is_back


class WeekRecord(NamedTuple):
    """The qualified drafts of one week on which somebody decided; false: edited, dismissed or taken back."""

    drafts: int
    false: int
    risky_false: int

    @property
    def rate(self) -> float | None:
        """The share of false positives, None of nothing."""
        return self.false / self.drafts if self.drafts else None


def has_what_it_takes(state: ThreadState) -> bool:
    """Whether a draft is of the kind that may be sent, whoever asked, at whatever hour, whatever became of it."""
    return all(one.holds for one in _of_draft(state))


def judge_draft(state: ThreadState, *, is_working: bool | None) -> tuple[Condition, ...]:
    """Return each condition of a draft that waits; `is_working` is None where no working hours are set."""
    told = {None: "`working_hours` is not set in triage.yml", True: "inside working hours", False: "outside them"}
    is_touched = len(state.rounds) != 1 or state.has_edited_draft
    return (
        _condition(ConditionCode.MENTIONED, state.mentions_bot, "the question mentions the bot", "no mention of it"),
        *_of_draft(state),
        _condition(
            ConditionCode.UNTOUCHED,
            not (is_touched or state.stale_reasons or state.human_context or state.followups),
            "nobody wrote, added or changed anything since the question",
            "somebody wrote in the thread, added context, or sent the draft back",
        ),
        _condition(ConditionCode.WORKING_HOURS, is_working is True, told[is_working]),
    )


def judge_record(weeks: Sequence[WeekRecord], *, uncounted: str = "") -> tuple[Condition, ...]:
    """Return each condition of a team's last weeks; `uncounted` names what is not in these numbers.

    >>> [one.code.value for one in judge_record([WeekRecord(10, 0, 0)] * 4) if not one.holds]
    []
    >>> [one.said for one in judge_record([WeekRecord(50, 2, 0)] * 4) if not one.holds]
    ['8 of 200 drafts changed, dismissed or taken back; 4 % in the worst week, at most 2 %']
    >>> [one.said for one in judge_record([]) if not one.holds][2:]
    ['how often they are wrong is not known yet', 'whether they touch production is not known yet']
    >>> judge_record([])[1].said
    '4 of 4 weeks without such a draft'
    """
    drafts, false = sum(week.drafts for week in weeks), sum(week.false for week in weeks)
    risky = sum(week.risky_false for week in weeks)
    idle = max(WEEKS, len(weeks)) - sum(week.drafts > 0 for week in weeks)
    worst = max((rate for week in weeks if (rate := week.rate) is not None), default=0.0)
    decided = f"{drafts} of at least {ENOUGH} decided drafts that qualify, in {WEEKS} weeks"
    every_week = f"{idle} of {WEEKS} weeks without such a draft" if idle else "such drafts in every week"
    wrong = f"{false} of {drafts} drafts changed, dismissed or taken back; {100 * worst:.4g}% in the worst week, "
    limits = f"{wrong}at most {LIMIT:.0%}".replace("%", " %") if drafts else "how often they are wrong is not known yet"
    touching = f"{risky} of these {'touches' if risky == 1 else 'touch'} production"
    touching = touching if drafts else "whether they touch production is not known yet"
    return (
        _condition(ConditionCode.ENOUGH_DRAFTS, drafts >= ENOUGH, decided),
        _condition(ConditionCode.EVERY_WEEK, not idle, every_week),
        _condition(ConditionCode.FALSE_POSITIVES, drafts > 0 and worst <= LIMIT, limits),
        _condition(ConditionCode.PRODUCTION, drafts > 0 and not risky, "none of these touches production", touching),
        _condition(ConditionCode.COUNTED, not uncounted, "everything on record is counted", uncounted),
    )


def _of_draft(state: ThreadState) -> tuple[Condition, ...]:
    first = state.rounds[0] if state.rounds and state.rounds[0].round == 1 else None
    verdict = first.validator_return if first else None
    confidence = first.investigator_return.confidence if first else "unknown"
    passed = not state.is_escalated and verdict is not None and verdict.verdict is Verdict.PASS
    gate = verdict.risk_gate_check if verdict else "not asked"
    return (
        _condition(ConditionCode.QUESTION_TYPE, state.question_type in TYPES, f"type {state.question_type}"),
        _condition(ConditionCode.CONFIDENCE, confidence == "high", f"confidence {confidence}"),
        _condition(ConditionCode.FIRST_ROUND, passed, "passed in round 1", "did not pass in round 1"),
        _condition(ConditionCode.RISK_GATE, gate == "passes", f"risk gate {gate}"),
    )


def _condition(code: ConditionCode, holds: bool, yes: str, no: str | None = None) -> Condition:
    return Condition(code=code, holds=holds, said=yes if holds or no is None else no)
