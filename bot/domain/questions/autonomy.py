"""When a reply may be sent without a human: one table of conditions of a draft, one of the team. Pure.

The decision, the mark on the card, the report and App Home all read these rows. Nothing arms by itself:

    disarmed ──(a person arms, every condition holds)──> armed ──(a condition fails, a person disarms)──> disarmed
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from bot.domain.questions.autonomy_record import Arming, AutonomyMode, Condition
from bot.domain.questions.autonomy_record import ConditionCode as Code
from bot.domain.returns import InvestigatorReturn, ValidatorReturn, Verdict, claim_marks
from bot.domain.text.humanize import counted
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

NO_HOURS: Final = "`working_hours` is not set in triage.yml"
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamFacts:
    """What is asked of a team: its key in triage.yml, its last weeks, and where it runs.

    `uncounted` names what is not in these weeks; `others` is how many other processes work on the same database.
    """

    mode: AutonomyMode
    weeks: Sequence[WeekRecord]
    uncounted: str = ""
    has_hours: bool = True
    others: int = 0


_Row = tuple[Code, bool, str, str]
"""A condition's name, whether it holds, and what is said where it does and where it does not."""


def has_what_it_takes(state: ThreadState) -> bool:
    """Whether a draft is of the kind that may be sent, whoever asked, at whatever hour, whatever became of it."""
    return all(holds for _, holds, *_ in _draft_rows(state))


def judge_draft(state: ThreadState, *, is_working: bool | None) -> tuple[Condition, ...]:
    """Return each condition of a draft that waits; `is_working` is None where no working hours are set."""
    return tuple(map(_condition, (*_draft_rows(state), *_moment_rows(state, is_working))))


def judge_team(facts: TeamFacts) -> tuple[Condition, ...]:
    """Return each condition of a team.

    >>> [one.code.value for one in judge_team(TeamFacts(mode=AutonomyMode.ON, weeks=[WeekRecord(10, 0, 0)] * 4))]
    ['enough-drafts', 'every-week', 'false-positives', 'production', 'counted', 'working-hours', 'armed', 'alone']
    """
    return tuple(map(_condition, _team_rows(facts)))


def _condition(row: _Row) -> Condition:
    code, holds, yes, no = row
    return Condition(code=code, holds=holds, said=yes if holds else no)


def _draft_rows(state: ThreadState) -> Iterator[_Row]:
    """Yield what is asked of the draft itself; all of it is read from fields."""
    first = next((each for each in state.rounds if each.round == 1), None)
    ret, verdict = (first.investigator_return, first.validator_return) if first else (None, None)
    from bot.domain.questions.rubrics import question_type_of  # here: reports measure more drafts than they judge

    asked = {state.question_type, question_type_of(state.question)}  # the investigator's word, and the rules'
    type_fits = state.question_type in TYPES and QuestionType.STATUS_CHECK not in asked
    said, sure = f"type {' or '.join(sorted(asked))}", ret.confidence if ret else "unknown"
    passed = not state.is_escalated and verdict is not None and verdict.verdict is Verdict.PASS
    gate, named = verdict.risk_gate_check if verdict else "not asked", id_in(state.question)
    harmless = ret is not None and is_harmless(ret, verdict)
    backed = first is not None and _is_all_backed(first)
    yield Code.QUESTION_TYPE, type_fits, said, said
    yield Code.CONFIDENCE, sure == "high", "confidence high", f"confidence {sure}"
    yield Code.CLAIMS, backed, "every claim is backed", "some claims are not backed by what they cite"
    yield Code.FIRST_ROUND, passed, "passed in round 1", "did not pass in round 1"
    yield Code.RISK_GATE, gate == "passes", "risk gate passes", f"risk gate {gate}"
    yield Code.FIELDS, harmless, "both models say: no risk, nothing touched", "a model names a risk, or leaves it out"
    yield Code.NO_PAGE, not state.is_alert, "no alarm and no alert", "an alarm or an alert"
    yield Code.NO_IDS, named is None, "the question names nobody", f"the question names {named}"


def _moment_rows(state: ThreadState, is_working: bool | None) -> Iterator[_Row]:
    """Yield what is asked of the thread and the hour."""
    is_changed = len(state.rounds) != 1 or state.has_edited_draft
    untouched = not (is_changed or state.stale_reasons or state.human_context or state.followups)
    touched = "somebody wrote in the thread, added context, or sent the draft back"
    no_work = NO_HOURS if is_working is None else "outside working hours"
    yield Code.MENTIONED, state.mentions_bot, "the question mentions the bot", "no mention of it"
    yield Code.UNTOUCHED, untouched, "nobody wrote or changed anything since the question", touched
    yield Code.WORKING_HOURS, is_working is True, "inside working hours", no_work


def _team_rows(facts: TeamFacts) -> Iterator[_Row]:
    """Yield what is asked of the team's last weeks, of triage.yml and of the process."""
    drafts, false = sum(week.drafts for week in facts.weeks), sum(week.false for week in facts.weeks)
    idle = max(WEEKS, len(facts.weeks)) - sum(week.drafts > 0 for week in facts.weeks)
    worst = max((rate for week in facts.weeks if (rate := week.rate) is not None), default=1.0)
    risky = sum(week.risky_false for week in facts.weeks)
    enough = f"{drafts} of at least {ENOUGH} decided drafts that qualify, in {WEEKS} weeks"
    wrong = f"{false} of {drafts} drafts changed, dismissed or taken back; {100 * worst:.4g} % in the worst week"
    wrong = f"{wrong}, at most {100 * LIMIT:g} %" if drafts else "how often they are wrong is not known yet"
    allowed, alone = facts.mode is AutonomyMode.ON, "no second process of this app"
    touching = f"{risky} of these {'touches' if risky == 1 else 'touch'} production" if drafts else "no draft yet"
    yield Code.ENOUGH_DRAFTS, drafts >= ENOUGH, enough, enough
    yield Code.EVERY_WEEK, not idle, "such drafts in every week", f"{idle} of {WEEKS} weeks without such a draft"
    yield Code.FALSE_POSITIVES, worst <= LIMIT, wrong, wrong
    yield Code.PRODUCTION, drafts > 0 and not risky, "none of these touches production", touching
    yield Code.COUNTED, not facts.uncounted, "everything on record is counted", facts.uncounted
    yield Code.WORKING_HOURS, facts.has_hours, "`working_hours` is set", NO_HOURS
    yield Code.ARMED, allowed, "triage.yml says `autonomy: on`", f"triage.yml says `autonomy: {facts.mode}`"
    yield (
        Code.ALONE,
        not facts.others,
        alone,
        f"{counted(facts.others, 'other process', 'other processes')} of this app",
    )


def _is_all_backed(each: Round) -> bool:
    claims = each.investigator_return.said_claims
    return bool(claims) and all(mark is True for mark in claim_marks(each.checks, len(claims)))


def missing(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return those that do not hold."""
    return tuple(one for one in conditions if not one.holds)


def looked_at(before: Arming, failed: tuple[Condition, ...], at: datetime) -> Arming:
    """Return the switch after a look at the team: as it was, or disarmed for what does not hold any more."""
    if not before.is_armed or not failed:
        return before
    return before.evolve(armed_by=None, armed_at=None, disarmed_at=at, disarmed_by=None, disarmed_for=failed)


def turned(before: Arming, to: AutonomyMode, failed: tuple[Condition, ...], at: datetime, *, by: str) -> Arming:
    """Return the switch after a person turned it.

    Raises:
        InputError: it is to be armed, and a condition does not hold; all that do not are named.
    """
    if to is not AutonomyMode.ON:
        is_off = to is AutonomyMode.OFF
        return before.evolve(
            armed_by=None, armed_at=None, disarmed_at=at, disarmed_by=by, disarmed_for=(), is_off=is_off
        )
    if failed:
        raise InputError(f"Not armed: {'; '.join(one.said for one in failed)}.", next_step=f"Look: {LOOK}")
    return Arming(armed_by=by, armed_at=at)


def armed_condition(standing: Arming) -> Condition:
    """Return whether it is armed, in words."""
    no = f"automatic replies are not armed{why_not(standing)}"
    said = f"armed by <@{standing.armed_by}>" if standing.is_armed else no
    return Condition(code=Code.ARMED, holds=standing.is_armed, said=said)


def why_not(standing: Arming) -> str:
    """Return why it was disarmed last, after a colon; nothing where it never was armed."""
    if standing.disarmed_by is not None:
        return f": <@{standing.disarmed_by}> disarmed them"
    return f": {'; '.join(one.said for one in standing.disarmed_for)}" if standing.disarmed_for else ""
