"""Measures what automatic replies would have sent in the last weeks, and how many of these were false positives.

Reads the threads of these weeks and the records of automatic replies; writes nothing, needs no running bot. A
false positive is a draft that qualified and that somebody edited, dismissed, sent back or took back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from bot.casework.reports.journal_history import PastThreads
from bot.casework.reports.measures import Window
from bot.casework.reports.thread_facts import ThreadFacts
from bot.domain.hours import ActiveHours
from bot.domain.questions.autonomy import AS_DRAFTED, DECIDED, WEEKS, WeekRecord, judge_record, why_not
from bot.domain.questions.autonomy_record import Arming, AutonomyMode, AutoReply, Condition, ConditionCode
from bot.domain.text.humanize import counted, utc_text
from bot.domain.threads import Resolution
from bot.ports import Store
from bot.ports.collections import AUTO_REPLIES, AUTONOMY, Collection, SingleDocument

SINCE: Final = timedelta(weeks=WEEKS, days=1)
SKEW: Final = timedelta(minutes=2)
"""Between this machine's clock and Slack's, which dates questions."""

NAMED: Final = 10
"""False positives that a report names; the rest is counted."""


def _wrong_words(draft: ThreadFacts, taken_back: Set[str]) -> str | None:
    """Return in which way a decided draft was wrong; "" for one that was right, None where nobody decided."""
    if draft.resolution not in DECIDED:
        return None
    if draft.is_sent_back:
        return "sent back for another draft"
    if draft.thread_id in taken_back:
        return "taken back"
    return "" if draft.resolution in AS_DRAFTED else draft.resolution.value


@dataclass(frozen=True, kw_only=True, slots=True)
class FalsePositive:
    """A draft that would have been sent, or was, and that somebody thought wrong."""

    thread_id: str
    how: str
    """In which way it was wrong, in words."""
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
    uncounted: str
    """What is not in these numbers; nothing where all is."""
    conditions: Sequence[Condition]
    false: Sequence[FalsePositive]
    """The newest first, at most ten."""
    sent: Sequence[AutoReply] = ()
    """Of the last weeks, the newest first."""

    @property
    def missing(self) -> list[Condition]:
        """What does not hold."""
        return [one for one in self.conditions if not one.holds]


def read_case(
    store: Store, past: PastThreads, now: datetime, mode: AutonomyMode, hours: ActiveHours | None
) -> AutonomyCase:
    """Return the case as it stands, of drafts within working hours if there are any; raises StoreError."""
    known, damaged = past.since(now - SINCE)
    found = [draft for draft in known if draft.qualifies]
    sent = Collection(store.documents, AUTO_REPLIES).all()[::-1]
    unknown = {draft.thread_id for draft in found if draft.resolution is Resolution.AUTO} - {s.thread_id for s in sent}
    problems = (
        "something on record is later than now" if any(one.started_at > now + SKEW for one in found) else "",
        f"{counted(damaged, 'thread')} cannot be read" if damaged else "",
        f"the records of {len(unknown)} automatic replies are gone" if unknown else "",
    )
    drafts = [draft for draft in found if hours is None or hours.contains(draft.drafted_at or draft.started_at)]
    drafts.sort(key=lambda draft: draft.started_at, reverse=True)
    taken_back = {one.thread_id for one in sent if one.taken_back_by is not None}
    hours_set = Condition(
        code=ConditionCode.WORKING_HOURS,
        holds=hours is not None,
        said="`working_hours` is set" if hours else "`working_hours` is not set in triage.yml",
    )
    weeks, uncounted = week_records(drafts, Window.last(7, now), taken_back), "; ".join(filter(None, problems))
    wrong = [_false_positive(draft, how) for draft in drafts if (how := _wrong_words(draft, taken_back))]
    return AutonomyCase(
        now=now,
        mode=mode,
        standing=read_arming(SingleDocument(store.documents, AUTONOMY)),
        weeks=weeks,
        uncounted=uncounted,
        conditions=(*judge_record(weeks, uncounted=uncounted), hours_set),
        false=wrong[:NAMED],
        sent=[one for one in sent if one.posted_message_id and one.at >= now - SINCE],
    )


def standing_words(case: AutonomyCase) -> str:
    """Return whether automatic replies are armed, and by whom, or why not."""
    if case.standing.armed_by is not None and case.standing.armed_at is not None:
        return f"armed by <@{case.standing.armed_by}> on {utc_text(case.standing.armed_at)}"
    return {
        AutonomyMode.OFF: "off",
        AutonomyMode.SHADOW: "off (shadow: cards say which would have been sent)",
        AutonomyMode.ON: f"not armed{why_not(case.standing)}",
    }[case.mode]


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


def next_words(case: AutonomyCase) -> str:
    """Return what to type next, in Slack or in triage.yml."""
    if case.standing.is_armed:
        return "To stop at once: `/triage metrics --disarm`"
    if case.missing:
        return "The record does not allow automatic replies. Every draft waits for an approver"
    if case.mode is AutonomyMode.ON:
        return "The record allows automatic replies. An approver may type `/triage metrics --arm`"
    return "The record would allow automatic replies. They are switched on in triage.yml: `autonomy: shadow`, then `on`"


def read_arming(stored: SingleDocument) -> Arming:
    """Return how it stands; what cannot be read is disarmed."""
    return parse_arming(stored.read())


def parse_arming(known: Mapping[str, Any]) -> Arming:
    """Return what a document says; disarmed, where it is none."""
    try:
        return Arming.model_validate({key: known[key] for key in Arming.model_fields if key in known})
    except ValueError:
        return Arming()


def _false_positive(draft: ThreadFacts, how: str) -> FalsePositive:
    return FalsePositive(
        thread_id=draft.thread_id,
        how=how,
        question=draft.question,
        permalink=draft.permalink,
        reason=draft.dismiss_reason,
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
