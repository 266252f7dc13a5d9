"""`triage open` and `triage brief`: what `/triage open` and `/triage brief` say, from the data directory alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from bot.casework.reports.daily_brief import MAX_LINES, WINDOW, DailyBrief, brief_line, build_brief
from bot.casework.reports.status_overview import ThreadLine, overview
from bot.cli.arguments import home_option, json_option, team_option
from bot.cli.data_directory import each_team, teams_at
from bot.cli.output import to_json, wrapped
from bot.cli.records import names_at, reading
from bot.domain.text.humanize import time_ago
from bot.domain.text.sanitize import one_line

QUESTION_CHARS = 60


@click.command("open", help="The drafts that wait for a decision: pages first, then the oldest.")
@home_option
@team_option
@json_option
def open_command(home: Path | None, team: str | None, as_json: bool) -> int:
    """Print a line for each draft that waits; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            drafts = overview(store, now).drafts
        if as_json:
            return to_json([thread_json(line) for line in drafts])
        lines = names_at(of_team).text("\n".join(_line(line, now) for line in drafts))
        return lines or "No draft waits. Next: triage status"

    print(each_team(teams_at(home, None, team), report, as_json=as_json))
    return 0


@click.command("brief", help="The last 24 hours: waiting drafts, replies, findings, cost.")
@home_option
@team_option
def brief_command(home: Path | None, team: str | None) -> int:
    """Print the brief; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            return names_at(of_team).text("\n".join(render(build_brief(store, now - WINDOW, now))))

    print(each_team(teams_at(home, None, team), report))
    return 0


def render(brief: DailyBrief) -> Iterator[str]:
    """Yield the lines of a brief: its counts, then what waits, who answered, what was found and what is open."""
    yield wrapped(brief_line(brief, "Brief"))
    replies = f"{brief.replies} repl{'y' if brief.replies == 1 else 'ies'} posted"
    yield f"{replies}, {brief.long_runs} long run{'s' * (brief.long_runs != 1)} finished"
    yield from _listed("Waiting for a decision", [_line(line, brief.now) for line in brief.drafts])
    answered = [f"  {one_line(line.question, QUESTION_CHARS)}" for line in brief.answered]
    yield from _listed("Answered by people in the thread", answered)
    findings = [wrapped(f"{each.session_id}: {one_line(each.text, 200)}", lead="  ") for each in brief.open_findings]
    yield from _listed("Open findings", findings)
    yield from _listed("Found by heartbeats", [wrapped(f"{name}: {told}", lead="  ") for name, told in brief.findings])
    said = [wrapped(f"{name}: “{remark}”", lead="  ") for name, remark in brief.remarks]
    yield from _listed("Remarks beside OK", said)


def thread_json(line: ThreadLine) -> dict[str, object]:
    """Return an open thread for programs."""
    return {
        "thread_id": line.thread_id,
        "status": line.status,
        "pending_reason": line.reason,
        "severity": line.severity,
        "question": line.question,
        "started_at": line.started_at.isoformat(),
        "permalink": line.permalink,
        "answered_by": line.answered_by,
    }


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        more = [f"  … and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
        yield from ("", f"{title}:", *lines[:MAX_LINES], *more)


def _line(line: ThreadLine, now: datetime) -> str:
    first = f"  {line.standing:<28} {time_ago(now, line.started_at):>10}  {one_line(line.question, QUESTION_CHARS)}"
    return first + (f"\n    {line.permalink}" if line.permalink else f"\n    {line.thread_id}")
