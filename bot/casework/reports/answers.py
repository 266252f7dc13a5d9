"""What `status`, `open`, `metrics` and `approve-list` answer, for Slack and for the terminal.

Who may not approve sees counts: no questions, no machines, no names of files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from bot.casework.reports.status_overview import (
    Overview,
    ThreadLine,
    count_findings,
    sessions_in_words,
    unreadable_words,
)
from bot.domain.alerts import SIGNS, WORDS, Severity
from bot.domain.answers import Answer, Line, Linked, Part, Table, lines_of, sentence
from bot.domain.text.humanize import counted, time_ago
from bot.release import program_version

if TYPE_CHECKING:  # each command needs one of these
    from bot.casework.approvers import ApproverList
    from bot.casework.reports.metrics_report import MetricsReport
    from bot.ports.system import Replica

MAX_NAMED: Final = 8
MAX_PEOPLE: Final = 50
MARKS: Final = {True: "✓", False: "✗", None: "?"}
"""Whether something is as it should be; ? where that cannot be told yet."""


def status_answer(seen: Overview, now: datetime, *, may_see_drafts: bool, facts: Mapping[str, Any] = {}) -> Answer:
    """Return how things stand; `facts` are further keys for programs."""
    table = Table(head=("Stands", "Question", "Since"), rows=tuple(_thread_row(one, now) for one in seen.threads))
    threads = (Part(table=table),) if may_see_drafts and seen.threads else ()
    title = f"triage {program_version()} at {facts['home']}" if facts else ""
    lines = (*lines_of(_status_lines(seen, may_see_drafts=may_see_drafts)), *(_watches(seen) if may_see_drafts else ()))
    parts = (Part(title=title, lines=lines), *threads)
    return Answer(parts=parts, following="open" if seen.waiting else "help", data={**facts, **status_record(seen)})


def _status_lines(seen: Overview, *, may_see_drafts: bool) -> Iterator[str]:
    yield f"{seen.waiting} waiting for a decision, {seen.running} being investigated"
    yield f"{seen.queued} queued, {seen.failed} failed, {counted(seen.posted_today, 'reply', 'replies')} posted today"
    if seen.paused:
        yield f"{seen.paused}; to resume: /triage resume"
    yield seen.connection
    yield seen.last_event
    yield from seen.codebases or filter(None, [seen.index])
    if seen.open_findings:
        named = sessions_in_words(seen.open_findings, at_most=MAX_NAMED)
        yield f"{count_findings(seen.open_findings)}: {named}; see /triage heartbeat list"
    if not may_see_drafts:
        if seen.unreadable:
            yield f"{counted(len(seen.unreadable), 'record')} cannot be read: see `triage status` on the bot's machine"
        return
    yield from seen.clones
    yield from (replica.line for replica in seen.replicas)
    yield from map(unreadable_words, seen.unreadable)


def _watches(seen: Overview) -> Iterator[Line]:
    """Yield how to look at each long run."""
    for one in seen.threads:
        if one.watch:
            yield Line(text=f"to watch “{one.question[:40]}”:", more=(f"`{one.watch}`",))


def _thread_row(one: ThreadLine, now: datetime) -> tuple[str | Linked, ...]:
    return one.standing, Linked(one.question, one.permalink or ""), time_ago(now, one.started_at)


def open_answer(seen: Overview, now: datetime, *, may_see_drafts: bool) -> Answer:
    """Return the drafts that wait: pages first, then the oldest."""
    records = [thread_record(line) for line in seen.drafts]
    if not records:
        return sentence("No draft waits.", "status", data=records)
    waits = f"{counted(len(records), 'draft')} wait{'s' * (len(records) == 1)} for a decision"
    if not may_see_drafts:
        return sentence(f"{waits}. Only approvers can see them.", "approve-list", data=len(records))
    lines = tuple(draft_line(one, now) for one in seen.drafts)
    more = f"{seen.running} more being investigated" if seen.running else ""
    parts = (Part(title=f"{waits}, pages first, then the oldest", lines=lines), *_note(more))
    return Answer(parts=parts, following=f"why {seen.drafts[0].thread_id}", data=records)


def _note(text: str) -> tuple[Part, ...]:
    return (Part(lines=lines_of([text])),) if text else ()


def draft_line(one: ThreadLine, now: datetime) -> Line:
    """Return a draft that waits: how it stands, how long, what was asked, and the way to its card."""
    page = f"{SIGNS[Severity.PAGE]} {WORDS[Severity.PAGE]}" if one.severity is Severity.PAGE else ""
    rang = f"rang {counted(one.paging.rings, 'time')} more" if one.paging.rings else ""
    return Line(
        mark=" · ".join(filter(None, [page, one.standing])),
        text=" · ".join(filter(None, [rang, time_ago(now, one.started_at), one.question])),
        link=one.card_link or one.permalink or "",
        linked="card" if one.card_link else "thread",
        who=one.paging.acknowledged_by or one.paging.escalated_to or "",
    )


def metrics_answer(report: MetricsReport) -> Answer:
    """Return what is measured over a window: a row for each target, what misses it first, then the counts."""
    from bot.casework.reports.metrics_report import tally_lines

    measures = sorted(report.criteria, key=lambda each: (each.ok is None, each.ok is True))
    rows = tuple((MARKS[each.ok], each.what, each.shown, each.target, f"{each.n:,}", each.name) for each in measures)
    remarks = [
        f"{each.name}: {'; '.join(filter(None, [each.missing and f'not enough data: {each.missing}', each.note]))}"
        for each in measures
        if each.missing or each.note
    ]
    if report.unreadable:
        remarks.append(f"{report.unreadable} thread files cannot be read and are not counted; see /triage status")
    title = f"The last {counted(round(report.window.days), 'day')}, to {report.window.end:%Y-%m-%d %H:%M} UTC"
    parts = [
        Part(title=title, table=Table(head=("", "What", "Value", "Target", "n", "Id"), rows=rows)),
        Part(lines=lines_of(tally_lines(report.tally))),
        *([Part(lines=lines_of(remarks))] if remarks else []),
    ]
    return Answer(parts=tuple(parts), following="metrics --autonomy", data=metrics_record(report))


def metrics_record(report: MetricsReport) -> dict[str, Any]:
    """Return a report for programs."""
    tally = report.tally
    return {
        "since": report.window.start.isoformat(),
        "until": report.window.end.isoformat(),
        "criteria": {each.name: each._asdict() for each in report.criteria},
        "counts": {**asdict(tally), "cost_per_reply_usd": tally.cost_per_reply_usd, "votes": tally.votes._asdict()},
        "unreadable": report.unreadable,
    }


def approvers_answer(roll: ApproverList, *, is_one: bool | None = None) -> Answer:
    """Return who may approve; `is_one` says whether the reader is among them, None where nobody can tell."""
    people = sorted(roll.people)
    named = tuple(Line(text="", who=user) for user in people[:MAX_PEOPLE])
    more = f" {len(people) - MAX_PEOPLE} more are not named here." if len(people) > MAX_PEOPLE else ""
    you = {True: " You are one of them.", False: " You are not one of them.", None: ""}[is_one]
    if is_one is None and roll.configured is None:
        who = "The members of the ops channel may approve; only Slack knows who they are"
    else:
        who = f"{counted(len(people), 'person', 'people')} may approve" if people else "Nobody may approve"
    rest = f"Guests, bots and people of other workspaces cannot approve.{more}{you}"
    record = {"people": people, "configured": roll.configured, "ops_channel": roll.ops_channel}
    parts = (Part(title=who, lines=named), Part(lines=(_source(roll), *lines_of([rest]))))
    return Answer(parts=parts, following="open", data=record)


def _source(roll: ApproverList) -> Line:
    if roll.configured is None:
        return Line(text="Its members approve, because triage.yml has no `approvers`.", who=roll.ops_channel)
    if not roll.configured:
        return Line(text="The list `approvers` in triage.yml is empty.")
    groups = [name for name in roll.configured if name.startswith("S")]
    with_groups = f", with the members of {counted(len(groups), 'user group')}" if groups else ""
    return Line(text=f"Named under `approvers` in triage.yml{with_groups}.")


def status_record(seen: Overview) -> dict[str, Any]:
    """Return how things stand for programs."""
    return {
        "version": program_version(),
        "connection_text": seen.connection,
        "last_event_at": seen.last_event_at.isoformat() if seen.last_event_at else None,
        "paused": seen.paused,
        "waiting": seen.waiting,
        "running": seen.running,
        "queued": seen.queued,
        "failed": seen.failed,
        "posted_today": seen.posted_today,
        "threads": [thread_record(line) for line in seen.threads],
        "codebases": list(seen.codebases),
        "clones": list(seen.clones),
        "replicas": [_replica_record(replica) for replica in seen.replicas],
        "open_findings": [asdict(line) for line in seen.open_findings],
        "unreadable": list(seen.unreadable),
    }


def thread_record(line: ThreadLine) -> dict[str, Any]:
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


def _replica_record(replica: Replica) -> dict[str, Any]:
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
