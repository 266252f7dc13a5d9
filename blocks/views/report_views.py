"""What `/triage status`, `/triage metrics` and `/triage approve-list` show. Pure.

Metrics fit one screen: what misses its target first, what cannot be told yet last. Nobody named in a list is notified.
"""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import SECTION_CHARS, context, escape, section
from blocks.text.splitting import truncate
from blocks.views.brief_view import asked
from bot.casework.approvers import ApproverList
from bot.casework.reports.measures import Measure, dollars, percent, seconds
from bot.casework.reports.metrics_report import MetricsReport
from bot.casework.reports.status_overview import Overview, count_findings, sessions_in_words
from bot.domain.questions.feedback import votes_words

MAX_PEOPLE: Final = 50


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


_MARKS: Final = {True: ":white_check_mark:", False: ":x:"}


def metrics_blocks(report: MetricsReport) -> list[Block]:
    """Return the answer; every text in it is ours."""
    tally, of = report.tally, report.tally.verdicts
    lines = [
        f"messages {tally.messages:,} · threads {tally.threads:,} · long runs {tally.long_runs}",
        f"drafts: {of['pass']} pass, {of['bounce']} bounce, {of['escalate']} escalate"
        f" · {tally.fabricated} fabricated references caught",
        f"{tally.approved} approved, {tally.edited} edited, {tally.dismissed} dismissed"
        f" · median time to approval {seconds(tally.to_approve_s)}, to reply {seconds(tally.to_reply_s)}"
        f" · cost per posted reply {dollars(tally.cost_per_reply_usd)}",
        f"feedback: {votes_words(tally.votes)}",
        f"automatic replies: people changed, dismissed or sent back {report.unattended.false} of "
        f"{report.unattended.qualified} drafts that would qualify ({percent(report.unattended.rate)}):"
        " `/triage autonomy`",
    ]
    told = sorted((each for each in report.criteria if each.ok is not None), key=lambda each: each.ok is True)
    untold = [each for each in report.criteria if each.ok is None]
    title = f"*The last {report.window.days:.0f} days*"
    return [
        section("\n".join([title, *(map(_line, told) if told else ["_No target can be checked yet._"])])),
        section("\n".join(lines)),
        *([context("\n".join(["*Not enough data yet*", *map(_missing, untold)]))] if untold else []),
        *([context(f"⚠ {report.uncounted}")] if report.uncounted else []),
        context("Week by week, and a sample of messages to judge: `triage metrics --help` on the bot's machine"),
    ]


def _line(each: Measure) -> str:
    note = f" _{each.note}_" if each.note else ""
    return (
        f"{_MARKS[bool(each.ok)]} {each.what}: *{each.shown}* (target {each.target}; n {each.n:,}) [{each.name}]{note}"
    )


def _missing(each: Measure) -> str:
    so_far = f" ({each.shown} so far)" if each.n else ""
    note = f" _{each.note}_" if each.note else ""
    return f"• {each.what}{so_far}: {each.missing} [{each.name}]{note}"


MAX_THREADS = 10
MACHINE_CHARS: Final = 1_500
MAX_SESSIONS: Final = 20
"""Named as having open findings; a session id has at most 40 characters."""


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
        lines = [f"• {t.standing} · {_place(t.permalink, t.chat_id)} · {asked(t.question)}" for t in overview.threads]
        parts.append(section("\n".join(_that_fit(lines))))
    if overview.unreadable:
        count = len(overview.unreadable)
        told = "see `triage status` on the bot's machine"
        parts.append(section(f":warning: {count} record{'s' * (count > 1)} cannot be read: {told}"))
    parts.append(context(f"{escape(overview.connection)}\n{overview.last_event}\nNext: `/triage open`, `/triage help`"))
    return fit_message(parts)


def _found(overview: Overview) -> str:
    """Return which sessions have open findings; what was found is for those who may read it."""
    names = escape(sessions_in_words(overview.open_findings, at_most=MAX_SESSIONS))
    return f"*{count_findings(overview.open_findings)}* · {names} · see `/triage heartbeat list`"


def _that_fit(lines: list[str]) -> list[str]:
    """Return as many lines as one section holds, ten at most; the last one says how many are left out."""
    shown: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > SECTION_CHARS - 50 or len(shown) == MAX_THREADS:
            return [*shown, f"… {len(lines) - len(shown)} more"]
        shown.append(line)
    return shown


def _place(permalink: str | None, chat_id: str) -> str:
    return f"<{permalink}|thread> in <#{chat_id}>" if permalink else f"<#{chat_id}>"
