"""The case for or against automatic replies as an answer; who may not approve sees counts and no questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bot.casework.reports.answers import MARKS
from bot.casework.reports.autonomy_metrics import AutonomyCase, FalsePositive, standing_words, type_name, weeks_words
from bot.domain.answers import Answer, Line, Part, lines_of
from bot.domain.questions.autonomy_record import AutoReply
from bot.domain.text.humanize import utc_text

MAX_SENT: Final = 10


def autonomy_answer(case: AutonomyCase, *, may_see_drafts: bool) -> Answer:
    """Return how automatic replies stand, what they would have done, what is missing, and what to do next."""
    said, following = _next(case)
    parts = [
        Part(lines=(_standing(case), *lines_of(weeks_words(case).splitlines()))),
        Part(lines=tuple(Line(name=type_name(one), text=one.words()) for one in case.types)),
        Part(lines=tuple(Line(mark=MARKS[one.holds], text=one.said) for one in case.conditions)),
        *(_drafts(case) if may_see_drafts else ()),
        Part(lines=lines_of([said])),
    ]
    return Answer(parts=tuple(one for one in parts if one.lines), following=following, data=case_record(case))


def _standing(case: AutonomyCase) -> Line:
    who = case.standing.armed_by or case.standing.disarmed_by or ""
    return Line(text=f"Automatic replies: {standing_words(case)}", who=who)


def _drafts(case: AutonomyCase) -> Iterator[Part]:
    yield Part(title="What people thought wrong", lines=tuple(map(_false, case.false)))
    yield Part(title="Sent without a click", lines=tuple(map(_sent, case.sent[:MAX_SENT])))


def _false(one: FalsePositive) -> Line:
    reason = f" ({one.reason})" if one.reason else ""
    return Line(text=f"{one.how}: {one.question}{reason}", link=one.permalink or "")


def _sent(one: AutoReply) -> Line:
    back = "taken back · " if one.taken_back_by else ""
    return Line(text=f"{utc_text(one.at)} · {back}{one.question}", who=one.taken_back_by or "")


def _next(case: AutonomyCase) -> tuple[str, str]:
    """Return what the record allows, and what to type next."""
    if case.standing.is_armed:
        return "To stop at once: /triage metrics --disarm", "metrics --disarm"
    if not case.missing:
        return "The record allows automatic replies. An approver may switch them on.", "metrics --arm"
    if case.is_allowed:
        said = "The record would allow automatic replies. To switch them on: `autonomy: shadow`, then `on`, in"
        return f"{said} triage.yml", "metrics"
    return "The record does not allow automatic replies. Every draft waits for an approver", "metrics"


def case_record(case: AutonomyCase) -> dict[str, Any]:
    """Return the case for programs."""
    return {
        "mode": case.mode,
        "armed_by": case.standing.armed_by,
        "armed_at": case.standing.armed_at,
        "disarmed_for": [one.said for one in case.standing.disarmed_for],
        "allowed": case.is_allowed,
        "weeks": [{**week._asdict(), "rate": week.rate} for week in case.weeks],
        "conditions": [one.model_dump() for one in case.conditions],
        "types": [one._asdict() for one in case.types],
        "false_positives": [one._asdict() for one in case.false],
        "sent": [one.model_dump(mode="json") for one in case.sent],
    }
