"""`triage status`, `triage open` and `triage brief`: how things stand, from the data directory alone.

They work beside a running bot and without one, and say what `/triage status`, `open` and `brief` say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from bot.casework.reports.daily_brief import MAX_LINES, WINDOW, DailyBrief, brief_line, build_brief
from bot.casework.reports.status_overview import (
    Overview,
    ThreadLine,
    count_findings,
    overview,
    sessions_in_words,
    unreadable_words,
)
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import codebases_at, reading, replicas_at
from bot.cli.options import json_option
from bot.cli.output import to_json, wrapped
from bot.domain.text.humanize import counted, time_ago
from bot.domain.text.sanitize import one_line
from bot.intake.presence import connection_state, read_presence
from bot.ports.replicas import Replica
from bot.release import program_version

QUESTION_CHARS = 60


def print_status(scope: Scope, *, as_json: bool) -> int:
    """Print counts and open threads; exit code 0.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            seen = overview(store, now, codebases_at(of_team, scope.config), replicas=replicas_at(of_team))
            if as_json:
                return status_json(seen, of_team, connection_state(read_presence(store.machine), now))
            return render(seen, of_team, now)

    return scope.print_each(report, as_json=as_json)


def status_json(seen: Overview, home: Path, state: str) -> str:
    """Return the report as one JSON object; `connection` is up, down, stuck (no answer), dead (stopped) or never."""
    facts = {
        "version": program_version(),
        "home": str(home),
        "connection": state,
        "connection_text": seen.connection,
        "last_event_at": seen.last_event_at.isoformat() if seen.last_event_at else None,
        "paused": seen.paused,
        "waiting": seen.waiting,
        "running": seen.running,
        "queued": seen.queued,
        "failed": seen.failed,
        "posted_today": seen.posted_today,
        "threads": [thread_json(line) for line in seen.threads],
        "codebases": list(seen.codebases),
        "clones": list(seen.clones),
        "replicas": [_replica_json(replica) for replica in seen.replicas],
        "open_findings": [asdict(line) for line in seen.open_findings],
        "unreadable": list(seen.unreadable),
    }
    return to_json(facts)


def _replica_json(replica: Replica) -> dict[str, object]:
    return {
        "host": replica.host,
        "pid": replica.pid,
        "version": replica.version,
        "role": replica.role,
        "is_alive": replica.is_alive,
        "runs_for_s": replica.runs_for.total_seconds(),
        "silent_for_s": replica.silent_for.total_seconds(),
        "clock_ahead_s": replica.clock_ahead.total_seconds(),
    }


def render(seen: Overview, home: Path, now: datetime) -> str:
    """Return the report, at most 80 columns wide but for paths."""
    replies = counted(seen.posted_today, "reply", "replies")
    lines = [
        f"triage {program_version()} at {home}",
        f"  {seen.waiting} waiting for a decision, {seen.running} being investigated",
        f"  {seen.queued} queued, {seen.failed} failed, {replies} posted today",
        f"  {seen.connection}",
        f"  {seen.last_event}",
    ]
    lines += [f"  {seen.paused}; to resume: triage resume"] if seen.paused else []
    about = seen.codebases or ((seen.index,) if seen.index else ())
    lines += [wrapped(line, lead="  ", indent="    ") for line in about]
    lines += [wrapped(line, lead="  ", indent="    ") for line in seen.clones]
    lines += [wrapped(replica.line, lead="  ", indent="    ") for replica in seen.replicas]
    if seen.open_findings:
        named = f"{count_findings(seen.open_findings)}: {sessions_in_words(seen.open_findings, at_most=20)}"
        lines.append(wrapped(named, lead="  ", indent="    "))
    if seen.threads:
        lines.append("")
    width = max((len(thread.standing) for thread in seen.threads), default=0)
    for thread in seen.threads:
        lines.append(
            f"  {thread.standing:<{width}} {time_ago(now, thread.started_at):>10}  {one_line(thread.question, 36)}"
        )
        lines += [f"    {thread.watch}"] if thread.watch else []
    lines += [wrapped(unreadable_words(name), lead="  ! ", indent="    ") for name in seen.unreadable]
    return "\n".join(lines)


@click.command("open", help="The drafts that wait for a decision: pages first, then the oldest.")
@json_option
@scoped
def open_command(scope: Scope, as_json: bool) -> int:
    """Print a line for each draft that waits; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> str:
        with reading(of_team) as store:
            drafts = overview(store, now).drafts
        if as_json:
            return to_json([thread_json(line) for line in drafts])
        return "\n".join(_line(line, now) for line in drafts) or "No draft waits. Next: triage status"

    return scope.print_each(report, as_json=as_json)


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
