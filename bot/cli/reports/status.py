"""`triage status`, `triage open` and `triage brief`: how things stand, from the data directory alone.

They work beside a running bot and without one, and say what `/triage status`, `open` and `brief` say.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from bot.casework.approvers import ApproverList
from bot.casework.reports.answers import approvers_answer, open_answer, status_answer
from bot.casework.reports.daily_brief import MAX_LINES, WINDOW, DailyBrief, brief_line, build_brief
from bot.casework.reports.status_overview import ThreadLine, overview
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import codebases_at, reading, replicas_at
from bot.cli.options import json_option
from bot.cli.output import wrapped
from bot.domain.answers import Answer
from bot.domain.text.humanize import counted, time_ago
from bot.domain.text.sanitize import one_line
from bot.intake.presence import connection_state, read_presence

QUESTION_CHARS = 60


def print_status(scope: Scope, *, as_json: bool) -> int:
    """Print counts and open threads; exit code 0.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            seen = overview(store, now, codebases_at(of_team, scope.config), replicas=replicas_at(of_team))
            facts = {"home": str(of_team), "connection": connection_state(read_presence(store.machine), now)}
            return status_answer(seen, now, may_see_drafts=True, facts=facts)

    return scope.answer_each(report, as_json=as_json)


@click.command("open")
@json_option
@scoped
def open_command(scope: Scope, as_json: bool) -> int:
    """Print a line for each draft that waits; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            return open_answer(overview(store, now), now, may_see_drafts=True)

    return scope.answer_each(report, as_json=as_json)


@click.command("approve-list")
@json_option
@scoped
def approve_list_command(scope: Scope, as_json: bool) -> int:
    """Print who is named as an approver; who is in a group or a channel only Slack can say."""

    def report(of_team: Path) -> Answer:
        settings = scope.settings(of_team)
        people = frozenset(one for one in settings.approvers or () if one[:1] in "UW")
        listed = tuple(settings.approvers) if settings.approvers is not None else None
        return approvers_answer(ApproverList(people=people, configured=listed, ops_channel=settings.ops_channel))

    return scope.answer_each(report, as_json=as_json)


@click.command("brief", help="The last 24 hours: waiting drafts, replies, findings, cost.")
@scoped
def brief_command(scope: Scope) -> int:
    """Print the brief; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            return "\n".join(render_brief(build_brief(store, now - WINDOW, now)))

    return scope.print_each(report)


def render_brief(brief: DailyBrief) -> Iterator[str]:
    """Yield the lines of a brief: its counts, then what waits, who answered, what was found and what is open."""
    yield wrapped(brief_line(brief, "Brief"))
    replies = counted(brief.replies, "reply", "replies")
    yield f"{replies} posted, {counted(brief.long_runs, 'long run')} finished"
    yield from _listed("Waiting for a decision", [_line(line, brief.now) for line in brief.drafts])
    answered = [f"  {one_line(line.question, QUESTION_CHARS)}" for line in brief.answered]
    yield from _listed("Answered by people in the thread", answered)
    findings = [wrapped(f"{each.session_id}: {one_line(each.text, 200)}", lead="  ") for each in brief.open_findings]
    yield from _listed("Open findings", findings)
    yield from _listed("Alerts by heartbeats", [wrapped(f"{name}: {told}", lead="  ") for name, told in brief.findings])
    said = [wrapped(f"{name}: “{remark}”", lead="  ") for name, remark in brief.remarks]
    yield from _listed("Remarks beside OK", said)


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        more = [f"  … and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
        yield from ("", f"{title}:", *lines[:MAX_LINES], *more)


def _line(line: ThreadLine, now: datetime) -> str:
    first = f"  {line.standing:<28} {time_ago(now, line.started_at):>10}  {one_line(line.question, QUESTION_CHARS)}"
    return first + (f"\n    {line.permalink}" if line.permalink else f"\n    {line.thread_id}")
