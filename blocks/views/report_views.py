"""What `/triage status`, `metrics` and `approve-list` show. Pure.

Metrics fit one screen: what misses its target first, what cannot be told yet last. Nobody named in a list is notified.
"""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, quoted_line, section
from blocks.text.splitting import SECTION_CHARS, lines_that_fit, truncate
from blocks.views.trust_view import type_lines
from bot.casework.approvers import ApproverList
from bot.casework.reports.autonomy_metrics import AutonomyCase, FalsePositive, next_words, standing_words, weeks_words
from bot.casework.reports.measures import Measure
from bot.casework.reports.metrics_report import MetricsReport, tally_lines
from bot.casework.reports.status_overview import Overview, ThreadLine, count_findings, sessions_in_words
from bot.domain.text.humanize import counted

MAX_PEOPLE: Final = 50

MARKS: Final = {True: ":white_check_mark:", False: ":x:"}

MAX_THREADS = 10
MACHINE_CHARS: Final = 1_500

MAX_SESSIONS: Final = 20
"""Named as having open findings; a session id has at most 40 characters."""


def approver_blocks(roll: ApproverList, *, is_one: bool) -> list[Block]:
    """Return the answer to `/triage approve-list`; `is_one` says whether the reader is among them."""
    people = sorted(roll.people)
    named = ", ".join(f"<@{user}>" for user in people[:MAX_PEOPLE])
    more = f" and {len(people) - MAX_PEOPLE} more" if len(people) > MAX_PEOPLE else ""
    who = f"May approve: {named}{more}" if people else f"*Nobody may approve.* {_why_nobody(roll)}"
    you = "You are one of them." if is_one else "You are not one of them."
    rest = "Guests, bots and people of other workspaces cannot approve."
    return [section(f"{who}\n{_source(roll)}"), context(f"{you} {rest} Next: `/triage open`")]


def _source(roll: ApproverList) -> str:
    if roll.configured is None:
        return f"Everybody in <#{roll.ops_channel}>, because triage.yml has no `approvers`."
    groups = ", ".join(f"<!subteam^{name}>" for name in roll.configured if name.startswith("S"))
    return f"Named under `approvers` in triage.yml{f', with the groups {groups}' if groups else ''}."


def _why_nobody(roll: ApproverList) -> str:
    return "The list is empty." if roll.configured == () else "Slack has not said who they are; see the bot's log."


def metrics_blocks(report: MetricsReport) -> list[Block]:
    """Return the answer; every text in it is ours."""
    told = sorted((each for each in report.criteria if each.ok is not None), key=lambda each: each.ok is True)
    untold = [each for each in report.criteria if each.ok is None]
    title = f"*The last {counted(round(report.window.days), 'day')}*"
    return [
        section("\n".join([title, *(map(_measure_line, told) if told else ["_No target can be checked yet._"])])),
        section("\n".join(tally_lines(report.tally))),
        *([context("\n".join(["*Not enough data yet*", *map(_missing, untold)]))] if untold else []),
        context(
            "Replies without a human: `/triage metrics --autonomy`. Messages to judge: `triage metrics --sample 20`"
        ),
    ]


def _measure_line(each: Measure) -> str:
    note = f" _{each.note}_" if each.note else ""
    return (
        f"{MARKS[bool(each.ok)]} {each.what}: *{each.shown}* (target {each.target}; n {each.n:,}) [{each.name}]{note}"
    )


def _missing(each: Measure) -> str:
    so_far = f" ({each.shown} so far)" if each.n else ""
    note = f" _{each.note}_" if each.note else ""
    return f"• {each.what}{so_far}: {each.missing} [{each.name}]{note}"


def status_blocks(overview: Overview, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer to `/triage status`; who may not approve sees counts and no questions."""
    counts = f"*{overview.waiting}* waiting for a decision · *{overview.running}* being investigated"
    given_up = f":warning: {overview.failed} failed" if overview.failed else "0 failed"
    replies = f"{overview.posted_today} repl{'y' if overview.posted_today == 1 else 'ies'}"
    queue = f"{overview.queued} queued · {given_up} · {replies} posted today"
    parts: list[Block] = [section(counts), context(queue)]
    if overview.paused:
        parts.append(section(f":double_vertical_bar: *{escape(overview.paused)}* · to resume: `/triage resume`"))
    if overview.index:
        parts.append(context(f":hourglass_flowing_sand: {escape(overview.index)}"))
    if may_see_drafts and overview.clones:
        parts.append(context(truncate(escape(" · ".join(overview.clones)), MACHINE_CHARS)))
    if may_see_drafts and overview.replicas:
        machines = "\n".join(replica.line for replica in overview.replicas)
        parts.append(context(truncate(escape(machines), MACHINE_CHARS)))
    if overview.open_findings:
        parts.append(section(_found(overview)))
    if may_see_drafts and overview.threads:
        lines = [f"• {one.standing} · {_thread_link(one)} · {quoted_line(one.question)}" for one in overview.threads]
        parts.append(section(lines_that_fit(lines, MAX_THREADS)))
    if overview.unreadable:
        count = len(overview.unreadable)
        told = "see `triage status` on the bot's machine"
        parts.append(section(f":warning: {counted(count, 'record')} cannot be read: {told}"))
    parts.append(context(f"{escape(overview.connection)}\n{overview.last_event}\nNext: `/triage open`, `/triage help`"))
    return fit_message(parts)


def _found(overview: Overview) -> str:
    """Return which sessions have open findings; what was found is for those who may read it."""
    names = escape(sessions_in_words(overview.open_findings, at_most=MAX_SESSIONS))
    return f"*{count_findings(overview.open_findings)}* · {names} · see `/triage heartbeat list`"


def _thread_link(line: ThreadLine) -> str:
    return f"<{line.permalink}|thread> in <#{line.chat_id}>" if line.permalink else f"<#{line.chat_id}>"


def autonomy_blocks(case: AutonomyCase, *, may_see_drafts: bool) -> list[Block]:
    """Return the answer; who may not approve sees counts and no questions."""
    parts: list[Block] = [section(f"*Automatic replies: {standing_words(case)}*\n{weeks_words(case)}")]
    if case.types:
        parts.append(section(type_lines(case)))
    parts.append(section("\n".join(f"{MARKS[one.holds]} {escape(one.said)}" for one in case.conditions)))
    if case.false and may_see_drafts:
        parts.append(section(_listed("*What people thought wrong*", [_false(one) for one in case.false])))
    return fit_message([*parts, context(next_words(case))])


def _false(one: FalsePositive) -> str:
    reason = f" · {escape(one.reason)}" if one.reason else ""
    return f"• {escape(one.how)} · {_thread_lead(one.permalink)}{quoted_line(one.question)}{reason}"


def _thread_lead(permalink: str | None) -> str:
    return f"<{permalink}|thread> · " if permalink else ""


def _listed(title: str, lines: list[str]) -> str:
    return truncate("\n".join([title, *(" ".join(line.split()) for line in lines)]), SECTION_CHARS)
