"""The content of the morning brief and the end-of-day report: what waits, what ended, findings, open work, cost.

Reads only the data directory; blocks/views/brief_view.py shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.casework.reports.journal_history import read_spent, recent_beats
from bot.casework.reports.measures import measure_total, middle, recent_records, to_us
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.status_overview import FindingLine, ThreadLine, count_findings, overview, thread_line
from bot.casework.reports.thread_facts import ThreadFacts
from bot.domain.text.humanize import counted, duration
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution
from bot.ports import Store
from bot.ports.collections import REPLIES, THREADS, Collection

MAX_LINES: Final = 8
"""Of drafts, of findings and of remarks."""

WINDOW: Final = timedelta(hours=24)


class BriefKind(StrEnum):
    """The morning's says what waits and what people answered themselves; the evening's what the day came to."""

    MORNING = "morning"
    EVENING = "evening"


@dataclass(frozen=True, kw_only=True, slots=True)
class DailyBrief:
    """What happened between two moments, and what waits at the second; `cost_usd` is None where a run did not say."""

    since: datetime
    now: datetime
    drafts: tuple[ThreadLine, ...]
    long_runs: int
    replies: int
    findings: tuple[tuple[str, str], ...]
    """Session and what its owner was told."""
    beats: int
    failed_beats: int
    model_runs: int
    cost_usd: float | None
    paused: str | None
    remarks: tuple[tuple[str, str], ...] = ()
    """Session and what a beat said with OK, which its owner was not told."""
    changes: tuple[tuple[str, str], ...] = ()
    """Session and what a command printed anew that ended well, where no model looked."""
    open_findings: tuple[FindingLine, ...] = ()
    """What is open at `now`, whenever it was found: pages first, then the oldest."""
    kind: BriefKind = BriefKind.MORNING
    answered: tuple[ThreadLine, ...] = ()
    """Questions that a person answered in the thread: those whose draft still waits, then those closed since."""
    ended: Mapping[Resolution, int] = field(default_factory=dict)
    """How many threads were closed since, by how they ended."""
    asked: int = 0
    """How many questions came in."""
    wait_s: float | None = None
    """The middle of the seconds from question to reply."""


def build_brief(store: Store, since: datetime, now: datetime, kind: BriefKind = BriefKind.MORNING) -> DailyBrief:
    """Return what a data directory says; raises StoreError for what cannot be read."""
    seen = overview(store, now)
    closed = Rollups(store, saves=False).closed_since(since, now)
    beats = recent_beats(store, since)
    posted = recent_records(store, REPLIES, "posted_at", since)
    waits = (record.get("latency_s") for record in posted)
    spent = read_spent(store, since)
    return DailyBrief(
        since=since,
        now=now,
        drafts=seen.drafts,
        long_runs=store.runs.long_runs_since(since),
        replies=len(posted),
        findings=tuple((one_line(one.session_id, 60), one_line(one.told, 120)) for one in beats if one.is_alert),
        beats=len(beats),
        failed_beats=sum(beat.is_failed for beat in beats),
        model_runs=len(spent),
        cost_usd=measure_total(spent),
        paused=seen.paused,
        remarks=_once((beat.session_id, beat.beside_ok) for beat in beats if beat.beside_ok),
        changes=_once((beat.session_id, line) for beat in beats for line in beat.changes),
        open_findings=seen.open_findings,
        kind=kind,
        answered=(*(line for line in seen.drafts if line.answered_by), *_superseded(store, closed)),
        ended=Counter(Resolution(one.resolution) for one in closed if one.resolution),
        asked=sum(one.started_us >= to_us(since) for one in closed)
        + sum(line.started_at >= since for line in seen.threads),
        wait_s=middle(float(wait) for wait in waits if isinstance(wait, int | float)),
    )


def _superseded(store: Store, closed: Iterable[ThreadFacts]) -> Iterator[ThreadLine]:
    """Yield a line for each thread that closed because a person had answered; only these are read."""
    threads = Collection(store.documents, THREADS)
    for one in closed:
        named = store.documents.archived(THREADS.name, one.thread_id) if one.resolution == Resolution.SUPERSEDED else ()
        if named and (state := threads.parse_archived(named[0])) is not None:
            yield thread_line(state)


def brief_line(brief: DailyBrief, title: str) -> str:
    """Return the brief in one line of counts, for notifications and screen readers."""
    waits = f"{counted(len(brief.drafts), 'draft')} to decide on" if brief.drafts else "no draft waits"
    still = f", {count_findings(brief.open_findings)}" if brief.open_findings else ""
    found = f", {counted(len(brief.findings), 'alert')} by heartbeats" if brief.findings else ""
    said = f", {counted(len(brief.remarks), 'remark')} with OK" if brief.remarks else ""
    new = f", {counted(len(brief.changes), 'change')}" if brief.changes else ""
    return f"{title}, the last {period(brief)}: {waits}{still}{found}{said}{new}. {brief_cost_line(brief)}"


def brief_cost_line(brief: DailyBrief) -> str:
    """Return what the time cost, in one honest sentence."""
    failed = f" ({brief.failed_beats} failed)" if brief.failed_beats else ""
    beats = f"{counted(brief.beats, 'beat')}{failed}"
    if not brief.model_runs:
        told = brief.open_findings or brief.findings or brief.remarks or brief.changes
        quiet = not (told or brief.replies or brief.failed_beats or brief.drafts)
        return f"{'All quiet: ' if quiet else ''}{beats}, no model call, $0.00."
    cost = "cost unknown: a run did not say what it cost" if brief.cost_usd is None else f"${brief.cost_usd:.2f}"
    return f"{beats}, {counted(brief.model_runs, 'model run')}, {cost}."


def _once(said: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return each line of a session once, with how often it was said."""
    counts = Counter((one_line(session, 60), one_line(text, 120)) for session, text in said)
    return tuple((session, f"{text} ({n} times)" if n > 1 else text) for (session, text), n in counts.items())


def period(brief: DailyBrief) -> str:
    """Return how long it looks back; a day is said in hours, for "the last 1 d" is no English."""
    time = brief.now - brief.since
    return "24 h" if time == WINDOW else duration(time)
