"""When a reply may be sent without a human: what is asked of the draft, of the team's record, and of a person. Pure.

Every condition is a code, whether it holds, and its figure in words; all are read from fields. Nothing arms by itself:

    disarmed ──(a person arms, every condition holds)──> armed ──(a condition fails, a person disarms)──> disarmed
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from bot.domain.questions.autonomy_record import Arming, AutonomyMode, Condition, ConditionCode
from bot.domain.questions.rubrics import question_type_of
from bot.domain.returns import InvestigatorReturn, ValidatorReturn, Verdict, claim_marks
from bot.domain.threads import QuestionType, Resolution, Round, ThreadState
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

LOOK: Final = "/triage metrics --autonomy"
"""What shows the case for or against, in Slack; in the terminal without the slash."""

_MENTION: Final = re.compile(r"<@[^>\s]{1,40}>")
_ID: Final = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}\.\w"  # an e-mail address
    # a number of its own, also between Chinese signs or behind a #
    r"|(?<![A-Za-z0-9_])(?<!\d[.,])(?<![A-Za-z]-)\d+(?![A-Za-z0-9_]|[.,]\d)"
    r"|[A-Za-z]{1,20}[-_#:]\d{2,}"  # ORD-1234, cus_47
    r"|(?=[A-Za-z0-9]{6,64}(?![A-Za-z0-9]))(?:[A-Za-z]{0,20}\d){4}",  # an id of letters and digits
)


class WeekRecord(NamedTuple):
    """The qualified drafts of one week on which somebody decided; false: edited, dismissed or taken back."""

    drafts: int
    false: int
    risky_false: int

    @property
    def rate(self) -> float | None:
        """The share of false positives, None of nothing."""
        return self.false / self.drafts if self.drafts else None


def id_in(question: str) -> str | None:
    """Return what in a question may name a customer, an account, an order, a ticket or a person; None if nothing does.

    A number of its own may be any of these, so none is let through; the first mention may be the bot's.

    >>> id_in("How many orders did customer 4711 place?"), id_in("Why did ORD-1234 fail?"), id_in("顧客42は?")
    ('4711', 'ORD-1234', '42')
    >>> id_in("<@U1> Where does Python 3.11 sign cookies with sha256, in `auth_v2.py`?") is None
    True
    """
    mentions = list(dict.fromkeys(_MENTION.findall(question)))
    if len(mentions) > 1:
        return str(mentions[1])
    found = _ID.search(_MENTION.sub(" ", question))
    return found[0] if found else None


def is_harmless(ret: InvestigatorReturn, verdict: ValidatorReturn | None) -> bool:
    """Whether both models say that acting on the draft is without risk and touches nothing; silence counts as risk."""
    said = (ret.risk, ret.touches, verdict and verdict.risk, verdict and verdict.touches)
    return ret.proposed_patch is None and all(one == "none" for one in said)


def has_what_it_takes(state: ThreadState) -> bool:
    """Whether a draft is of the kind that may be sent, whoever asked, at whatever hour, whatever became of it."""
    return all(one.holds for one in _of_draft(state))


def judge_draft(state: ThreadState, *, is_working: bool | None) -> tuple[Condition, ...]:
    """Return each condition of a draft that waits; `is_working` is None where no working hours are set."""
    told = {
        None: "`working_hours` is not set in triage.yml",
        True: "inside working hours",
        False: "outside working hours",
    }
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


def _of_draft(state: ThreadState) -> tuple[Condition, ...]:
    first = next((each for each in state.rounds if each.round == 1), None)
    verdict = first.validator_return if first else None
    confidence = first.investigator_return.confidence if first else "unknown"
    passed = not state.is_escalated and verdict is not None and verdict.verdict is Verdict.PASS
    gate = verdict.risk_gate_check if verdict else "not asked"
    is_page, named = state.is_alert, id_in(state.question)
    asked = {state.question_type, question_type_of(state.question)}  # the investigator's word, and the rules'
    is_of_type = state.question_type in TYPES and QuestionType.STATUS_CHECK not in asked
    return (
        _condition(ConditionCode.QUESTION_TYPE, is_of_type, f"type {' or '.join(sorted(asked))}"),
        _condition(ConditionCode.CONFIDENCE, confidence == "high", f"confidence {confidence}"),
        _condition(
            ConditionCode.CLAIMS,
            first is not None and _is_all_backed(first),
            "every claim is backed",
            "some claims are not backed by what they cite",
        ),
        _condition(ConditionCode.FIRST_ROUND, passed, "passed in round 1", "did not pass in round 1"),
        _condition(ConditionCode.RISK_GATE, gate == "passes", f"risk gate {gate}"),
        _condition(
            ConditionCode.FIELDS,
            first is not None and is_harmless(first.investigator_return, verdict),
            "both models say: no risk, nothing touched",
            "a model names a risk or what is touched, or leaves that out",
        ),
        _condition(ConditionCode.NO_PAGE, not is_page, "no alarm and no alert", "an alarm or an alert"),
        _condition(ConditionCode.NO_IDS, named is None, "the question names nobody", f"the question names {named}"),
    )


def _is_all_backed(each: Round) -> bool:
    claims = each.investigator_return.said_claims
    return bool(claims) and all(mark is True for mark in claim_marks(each.checks, len(claims)))


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What one look at the record sees; `others`: how many other processes work on the same database."""

    now: datetime
    mode: AutonomyMode
    weeks: Sequence[WeekRecord]
    uncounted: str = ""
    others: int = 0

    @property
    def failed(self) -> tuple[Condition, ...]:
        """What keeps automatic replies from being armed, the draft's own conditions aside."""
        said = f"`autonomy: {self.mode}` in triage.yml"
        others = f"{self.others} other process{'es' * (self.others != 1)} of this app"
        every = (
            _condition(ConditionCode.ARMED, self.mode is AutonomyMode.ON, said),
            *judge_record(self.weeks, uncounted=self.uncounted),
            _condition(ConditionCode.ALONE, not self.others, "no second process", others),
        )
        return tuple(one for one in every if not one.holds)


def look(before: Arming, seen: Look) -> Arming:
    """Return what is on file after a look: as it was, or disarmed for what does not hold any more."""
    if not before.is_armed or not seen.failed:
        return before
    return before.evolve(armed_by=None, armed_at=None, disarmed_at=seen.now, disarmed_by=None, disarmed_for=seen.failed)


def arm(seen: Look, *, by: str) -> Arming:
    """Return what is on file once a person armed it.

    Raises:
        InputError: a condition does not hold; all that do not are named.
    """
    if seen.mode is not AutonomyMode.ON:
        raise InputError(f"Not armed: triage.yml says `autonomy: {seen.mode}`; write `on` there and restart triage")
    if failed := [one.said for one in seen.failed]:
        raise InputError(f"Not armed: {'; '.join(failed)}.", next_step=f"Look: {LOOK}")
    return Arming(armed_by=by, armed_at=seen.now)


def disarm(before: Arming, at: datetime, *, by: str) -> Arming:
    """Return what is on file once a person disarmed it."""
    return before.evolve(armed_by=None, armed_at=None, disarmed_at=at, disarmed_by=by, disarmed_for=())


def armed_condition(standing: Arming) -> Condition:
    """Return whether it is armed, in words."""
    if standing.is_armed:
        return _condition(ConditionCode.ARMED, True, f"armed by <@{standing.armed_by}>")
    return _condition(ConditionCode.ARMED, False, f"automatic replies are not armed{why_not(standing)}")


def why_not(standing: Arming) -> str:
    """Return why it was disarmed last, after a colon; nothing where it never was armed."""
    if standing.disarmed_by is not None:
        return f": <@{standing.disarmed_by}> disarmed them"
    return f": {'; '.join(one.said for one in standing.disarmed_for)}" if standing.disarmed_for else ""


def _condition(code: ConditionCode, holds: bool, yes: str, no: str | None = None) -> Condition:
    return Condition(code=code, holds=holds, said=yes if holds or no is None else no)
