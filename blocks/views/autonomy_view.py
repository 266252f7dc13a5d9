"""`/triage autonomy`: the case for or against automatic replies, each condition with its figure. Pure."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import SECTION_CHARS, context, escape, escape_text, section, truncate
from bot.casework.reports.autonomy_metrics import AutonomyCase, FalsePositive, Outcome
from bot.domain.questions.arming import why_not
from bot.domain.questions.auto_reply import WEEKS, AutoReply
from bot.domain.questions.conditions import AutonomyMode
from bot.domain.text.humanize import utc_text

MARKS: Final = {True: ":white_check_mark:", False: ":x:"}


def autonomy_blocks(case: AutonomyCase, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer; who may not approve sees counts and no questions."""
    parts: list[Block] = [section(f"*Automatic replies: {_standing(case)}*\n{_weeks(case)}")]
    parts.append(section("\n".join(f"{MARKS[one.holds]} {escape(one.said)}" for one in case.conditions)))
    if case.false and may_see_drafts:
        parts.append(section(_listed("*What people thought wrong*", [_false(one) for one in case.false])))
    if case.sent and may_see_drafts:
        parts.append(section(_listed("*Sent automatically*", [_sent(one) for one in case.sent[:10]])))
    return fit_message([*parts, context(_next(case))])


def _standing(case: AutonomyCase) -> str:
    if case.standing.armed_by is not None and case.standing.armed_at is not None:
        return f"armed by <@{case.standing.armed_by}> on {utc_text(case.standing.armed_at)}"
    return {
        AutonomyMode.OFF: "off",
        AutonomyMode.SHADOW: "off (shadow: cards say which would have been sent)",
        AutonomyMode.ON: f"not armed{why_not(case.standing)}",
    }[case.mode]


def _weeks(case: AutonomyCase) -> str:
    """Return what would have been sent, and what people did with it."""
    total = sum(case.outcomes.values())
    if not total:
        return f"In the last {WEEKS} weeks no draft would have been sent without a human."
    said = ", ".join(f"{case.outcomes[one]} {one}" for one in Outcome if case.outcomes.get(one))
    by_week = " · ".join(f"{week.false} of {week.drafts}" for week in case.weeks)
    return (
        f"In the last {WEEKS} weeks {total} draft{'s' * (total != 1)} would have been sent without a human: {said}.\n"
        f"Wrong, week by week, the latest first: {by_week}"
    )


def _false(one: FalsePositive) -> str:
    reason = f" · {escape(one.reason)}" if one.reason else ""
    return f"• {one.outcome} · {_place(one.permalink)}{escape_text(one.question).replace('`', chr(39))}{reason}"


def _sent(one: AutoReply) -> str:
    back = f" · taken back by <@{one.taken_back_by}>" if one.taken_back_by else ""
    return f"• {utc_text(one.at)} · {_place(one.permalink)}{escape_text(one.question[:80]).replace('`', chr(39))}{back}"


def _place(permalink: str | None) -> str:
    return f"<{permalink}|thread> · " if permalink else ""


def _listed(title: str, lines: list[str]) -> str:
    return truncate("\n".join([title, *(" ".join(line.split()) for line in lines)]), SECTION_CHARS)


def _next(case: AutonomyCase) -> str:
    if case.standing.is_armed:
        return "To stop at once: `/triage autonomy disarm`"
    if case.missing:
        return "The record does not allow automatic replies. Every draft waits for an approver"
    if case.mode is AutonomyMode.ON:
        return "The record allows automatic replies. An approver may type `/triage autonomy arm`"
    return "The record would allow automatic replies. They are switched on in triage.yml: `autonomy: shadow`, then `on`"
