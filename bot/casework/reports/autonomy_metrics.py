"""Measures each type of question over the last weeks, and what automatic replies would have sent of it.

Reads the threads of these weeks, the votes and the records of automatic replies; writes nothing, needs no running bot.
A false positive is a draft that qualified and that somebody edited, dismissed, sent back or took back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from bot.casework.reports.journal_history import PastThreads, ThreadFacts
from bot.casework.reports.measures import Window, read_feedback
from bot.domain.hours import ActiveHours
from bot.domain.questions.autonomy import (
    AS_DRAFTED,
    DECIDED,
    WEEKS,
    TeamFacts,
    WeekRecord,
    judge_team,
    missing,
    why_not,
)
from bot.domain.questions.autonomy_record import Arming, AutonomyMode, AutoReply, Condition, ConditionCode
from bot.domain.text.humanize import counted, utc_text
from bot.domain.threads import QuestionType, Resolution
from bot.ports import Store
from bot.ports.collections import AUTO_REPLIES, AUTONOMY, Collection, SingleDocument

SINCE: Final = timedelta(weeks=WEEKS, days=1)
SKEW: Final = timedelta(minutes=2)
"""Between this machine's clock and Slack's, which dates questions."""

NAMED: Final = 10
"""False positives that a report names; the rest is counted."""


class TypeRecord(NamedTuple):
    """What became of the drafts of one type of question; `would_send` counts those that qualified."""

    question_type: QuestionType
    drafts: int
    approved: int
    edited: int
    dismissed: int
    not_helpful: int
    sent: int
    taken_back: int
    would_send: int

    def words(self) -> str:
        """Return the record on one line.

        >>> TypeRecord(QuestionType.TECHNICAL_QA, 31, 22, 4, 2, 1, 0, 0, 9).words()
        '22 of 31 approved unchanged, 4 edited, 2 dismissed, 1 not helpful, 9 could have been sent'
        """
        ends = {"edited": self.edited, "dismissed": self.dismissed, "sent automatically": self.sent}
        later = {"taken back": self.taken_back, "not helpful": self.not_helpful}
        told = [f"{n} {what}" for what, n in {**ends, **later, "could have been sent": self.would_send}.items() if n]
        return ", ".join([f"{self.approved} of {self.drafts} approved unchanged", *told])


class FalsePositive(NamedTuple):
    """A draft that would have been sent, or was, and that somebody thought wrong; `how` says in which way."""

    thread_id: str
    how: str
    question: str
    permalink: str | None
    reason: str
    """What the approver wrote when dismissing it, or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AutonomyCase:
    """The case for or against automatic replies; `weeks` has the latest first."""

    now: datetime
    mode: AutonomyMode
    standing: Arming
    weeks: Sequence[WeekRecord]
    conditions: Sequence[Condition]
    types: Sequence[TypeRecord] = ()
    """Of each type that had drafts, the most frequent first."""
    false: Sequence[FalsePositive] = ()
    """The newest first, at most ten."""
    sent: Sequence[AutoReply] = ()
    """Of the last weeks, the newest first."""

    @property
    def missing(self) -> tuple[Condition, ...]:
        """What does not hold."""
        return missing(self.conditions)

    @property
    def is_allowed(self) -> bool:
        """Whether the record would allow it, whatever triage.yml says."""
        return all(one.code is ConditionCode.ARMED for one in self.missing)


def read_case(
    store: Store, past: PastThreads, now: datetime, mode: AutonomyMode, hours: ActiveHours | None, *, others: int = 0
) -> AutonomyCase:
    """Return the case as it stands, of drafts within working hours if there are any; raises StoreError."""
    known, damaged = past.since(now - SINCE)
    known = sorted((one for one in known if one.started_at >= now - SINCE), key=lambda one: one.started_at)[::-1]
    sent = Collection(store.documents, AUTO_REPLIES).all()[::-1]
    drafts = [one for one in known if one.qualifies and (hours is None or hours.contains(one.drafted_at or now))]
    taken_back = {one.thread_id for one in sent if one.taken_back_by is not None}
    unknown = {one.thread_id for one in known if one.resolution is Resolution.AUTO} - {one.thread_id for one in sent}
    problems = (
        "something on record is later than now" if any(one.started_at > now + SKEW for one in known) else "",
        f"{counted(damaged, 'thread')} cannot be read" if damaged else "",
        f"the records of {len(unknown)} automatic replies are gone" if unknown else "",
    )
    weeks = week_records(drafts, Window.last(7, now), taken_back)
    facts = TeamFacts(
        mode=mode,
        weeks=weeks,
        uncounted="; ".join(filter(None, problems)),
        has_hours=hours is not None,
        others=others,
    )
    wrong = [
        FalsePositive(one.thread_id, how, one.question, one.permalink, one.dismiss_reason)
        for one in drafts
        if (how := _wrong_words(one, taken_back))
    ]
    return AutonomyCase(
        now=now,
        mode=mode,
        standing=read_arming(SingleDocument(store.documents, AUTONOMY)),
        weeks=weeks,
        conditions=judge_team(facts),
        types=type_records(known, taken_back, {one.thread_id for one in read_feedback(store) if one.against}),
        false=wrong[:NAMED],
        sent=[one for one in sent if one.posted_message_id and one.at >= now - SINCE],
    )


def type_records(threads: Iterable[ThreadFacts], taken_back: Set[str], not_helpful: Set[str]) -> list[TypeRecord]:
    """Return the record of each type of question, the most frequent first, of drafts that people were shown."""
    drafts: dict[QuestionType, list[ThreadFacts]] = {}
    for one in threads:
        if one.drafted_at is not None:
            drafts.setdefault(one.question_type, []).append(one)
    records = [_type_record(name, found, taken_back, not_helpful) for name, found in drafts.items()]
    return sorted(records, key=lambda one: (-one.drafts, one.question_type))


def _type_record(
    name: QuestionType, drafts: Sequence[ThreadFacts], taken_back: Set[str], not_helpful: Set[str]
) -> TypeRecord:
    ends, ids = [one.resolution for one in drafts], {one.thread_id for one in drafts}
    return TypeRecord(
        question_type=name,
        drafts=len(drafts),
        approved=ends.count(Resolution.APPROVED),
        edited=ends.count(Resolution.EDITED),
        dismissed=ends.count(Resolution.DISMISSED),
        not_helpful=len(ids & not_helpful),
        sent=ends.count(Resolution.AUTO),
        taken_back=len(ids & taken_back),
        would_send=sum(one.qualifies for one in drafts),
    )


def week_records(drafts: Iterable[ThreadFacts], window: Window, taken_back: Set[str]) -> list[WeekRecord]:
    """Return the record of each of the weeks up to a window's end, the latest first, of what was decided on."""
    known = [(draft, how) for draft in drafts if (how := _wrong_words(draft, taken_back)) is not None]
    weeks = []
    for week in window.weeks(WEEKS):
        inside = [one for one in known if week.holds(one[0].started_at)]
        false = [draft for draft, how in inside if how]
        weeks.append(WeekRecord(len(inside), len(false), sum(draft.is_risky for draft in false)))
    return weeks


def _wrong_words(draft: ThreadFacts, taken_back: Set[str]) -> str | None:
    """Return in which way a decided draft was wrong; "" for one that was right, None where nobody decided."""
    if draft.resolution not in DECIDED:
        return None
    if len(draft.rounds) > 1:
        return "sent back for another draft"
    if draft.thread_id in taken_back:
        return "taken back"
    return "" if draft.resolution in AS_DRAFTED else draft.resolution.value


def standing_words(case: AutonomyCase) -> str:
    """Return whether automatic replies are armed, and by whom, or why not."""
    if case.standing.armed_by is not None and case.standing.armed_at is not None:
        return f"armed by <@{case.standing.armed_by}> since {utc_text(case.standing.armed_at)}"
    if case.standing.is_off and case.mode is not AutonomyMode.OFF:
        return f"off{why_not(case.standing)}"
    return {
        AutonomyMode.OFF: "off",
        AutonomyMode.SHADOW: "off (shadow: cards say which would have been sent)",
        AutonomyMode.ON: f"not armed{why_not(case.standing)}",
    }[case.mode]


def type_name(record: TypeRecord) -> str:
    """Return a type of question as people call it: `technical question`."""
    return record.question_type.replace("_", " ").replace("qa", "question")


def weeks_words(case: AutonomyCase) -> str:
    """Return what would have been sent, and what people did with it: a line or two."""
    total = sum(week.drafts for week in case.weeks)
    if not total:
        return f"In the last {WEEKS} weeks no draft would have been sent without a human."
    by_week = " · ".join(f"{week.false} of {week.drafts}" for week in case.weeks)
    return (
        f"In the last {WEEKS} weeks {counted(total, 'decided draft')} would have been sent without a human.\n"
        f"Wrong, week by week, the latest first: {by_week}"
    )


def read_arming(stored: SingleDocument) -> Arming:
    """Return how it stands; what cannot be read is disarmed."""
    return parse_arming(stored.read())


def parse_arming(known: Mapping[str, Any]) -> Arming:
    """Return what a document says; disarmed, where it is none."""
    try:
        return Arming.model_validate({key: known[key] for key in Arming.model_fields if key in known})
    except ValueError:
        return Arming()
