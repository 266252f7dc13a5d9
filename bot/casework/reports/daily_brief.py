"""The morning brief and the end-of-day report: what waits, what ended, findings, open work, cost; when they are due.

The content is read from the data directory; blocks/views/report_views.py shows it. A brief or report is recorded in
brief.json before it is posted: a crash in between loses one but never posts two. What Slack refuses for certain is
tried again at the next tick. A late one says so, and for which day it is; one that is too late is skipped, which is
logged; one outside working hours comes when they start.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from bot.casework.reports.measures import known_cost, measure_total, middle, recent_records, time_of
from bot.casework.reports.status_overview import FindingLine, ThreadLine, count_findings, overview, thread_line
from bot.casework.thread_service import ThreadService
from bot.config.codebase_settings import BriefSettings
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import LATE, counted, duration
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution
from bot.errors import ProviderError, Unconfirmed
from bot.ports import Store
from bot.ports.collections import HEARTBEATS, REPLIES, SPEND, THREADS, Collection, SingleDocument

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
    closed = list(_closed(store, since))
    beats = [
        beat
        for beat in recent_records(store, HEARTBEATS, "ts", since)
        if beat.get("result") != "skipped" or beat.get("changes")
    ]
    posted = recent_records(store, REPLIES, "posted_at", since)
    waits = (record.get("latency_s") for record in posted)
    spent = [known_cost(record) for record in recent_records(store, SPEND, "at", since)]
    return DailyBrief(
        since=since,
        now=now,
        drafts=seen.drafts,
        long_runs=store.runs.long_runs_since(since),
        replies=len(posted),
        findings=tuple(
            _told(beat, str(beat.get("preview") or ""))
            for beat in beats
            if beat.get("result") == "sent" and beat.get("indicator") == "alert"
        ),
        beats=len(beats),
        failed_beats=sum(beat.get("result") == "failed" for beat in beats),
        model_runs=len(spent),
        cost_usd=measure_total(spent),
        paused=seen.paused,
        remarks=_once(_told(beat, str(beat["beside_ok"])) for beat in beats if beat.get("beside_ok")),
        changes=_once(_told(beat, str(line)) for beat in beats for line in beat.get("changes") or ()),
        open_findings=seen.open_findings,
        kind=kind,
        answered=(
            *(line for line in seen.drafts if line.answered_by),
            *(one.superseded for one in closed if one.superseded),
        ),
        ended=Counter(one.resolution for one in closed if one.resolution),
        asked=sum(one.started_at >= since for one in closed) + sum(line.started_at >= since for line in seen.threads),
        wait_s=middle(float(wait) for wait in waits if isinstance(wait, int | float)),
    )


class _Closed(NamedTuple):
    """A thread that closed; `superseded` is its line where a person had answered."""

    started_at: datetime
    resolution: Resolution | None
    superseded: ThreadLine | None


def _closed(store: Store, since: datetime) -> Iterator[_Closed]:
    """Yield the threads that closed since then, the newest first; those that cannot be read are left out."""
    threads = Collection(store.documents, THREADS)
    for state in map(threads.parse_archived, store.documents.archived(THREADS.name, since=since)):
        if state is not None:
            is_superseded = state.resolution is Resolution.SUPERSEDED
            yield _Closed(state.started_at, state.resolution, thread_line(state) if is_superseded else None)


def _told(beat: Mapping[str, Any], text: str) -> tuple[str, str]:
    """Return the session of a beat, and a text of it, each in one line."""
    return one_line(str(beat.get("session_id") or ""), 60), one_line(text, 120)


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
    beats = f"{counted(brief.beats, 'check')}{failed}"
    if not brief.model_runs:
        told = brief.open_findings or brief.findings or brief.remarks or brief.changes
        quiet = not (told or brief.replies or brief.failed_beats or brief.drafts)
        return f"{'All quiet: ' if quiet else ''}{beats}, no model call, $0.00."
    cost = "cost unknown: a run did not say what it cost" if brief.cost_usd is None else f"${brief.cost_usd:.2f}"
    return f"{beats}, {counted(brief.model_runs, 'model run')}, {cost}."


def _once(said: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return each line of a session once, with how often it was said."""
    counts = Counter(said).items()
    return tuple((session, f"{text} ({n} times)" if n > 1 else text) for (session, text), n in counts)


def period(brief: DailyBrief) -> str:
    """Return how long it looks back; a day is said in hours, for "the last 1 d" is no English."""
    time = brief.now - brief.since
    return "24 h" if time == WINDOW else duration(time)


log = logging.getLogger(__name__)

STILL_WORTH_SAYING: Final = timedelta(hours=2)
A_DAY: Final = WINDOW + timedelta(hours=1) + STILL_WORTH_SAYING
"""What a brief looks back on where nothing holds it back: a day of 25 hours, and as late as it may be said."""

HELD_BACK: Final = timedelta(days=8)
"""How long a brief may wait for working hours: a week, and the day it was meant for."""

Say = Callable[[DailyBrief, str], None]
"""Posts a brief under a title in the ops channel; raises ProviderError if it was refused, Unconfirmed if nobody can
tell."""

TITLES: Final[Mapping[str, str]] = {BriefKind.MORNING: "Morning brief", BriefKind.EVENING: "End-of-day report"}


class BriefSchedule:
    """Posts the briefs that are due, at each `tick`; `zone` is the IANA name of their times, `hours` when to post."""

    def __init__(
        self,
        service: ThreadService,
        store: Store,
        settings: BriefSettings,
        stored: SingleDocument,
        *,
        say: Say,
        zone: str,
        hours: ActiveHours | None,
    ) -> None:
        self._service, self._store, self._stored, self._zone = service, store, stored, ZoneInfo(zone)
        self._say_it, self._hours = say, hours
        times = {BriefKind.MORNING: settings.morning, BriefKind.EVENING: settings.evening}
        self._times = {str(name): time.fromisoformat(at) for name, at in times.items() if at is not None}

    def tick(self) -> None:
        """Say what is due; raises StoreError when the disk refuses to remember it, and then nothing is said."""
        now, said = self._service.clock.now(), self._stored.read()
        slots = {name: slot for name, at in self._times.items() if (slot := self._slot(at, now)) is not None}
        today = f"{now.astimezone(self._zone):%Y-%m-%d}"  # a day in the future is a wrong clock's, and covers nothing
        unsaid = {
            name: slot for name, slot in slots.items() if not f"{slot:%Y-%m-%d}" <= str(said.get(name, "")) <= today
        }
        due = {name: slot for name, slot in unsaid.items() if _late_by(slot, now, self._hours) < STILL_WORTH_SAYING}
        if due:
            self._say(due, now)
        elif dropped := {name: f"{slot:%Y-%m-%d}" for name, slot in unsaid.items() if name in said}:
            log.warning("too late for the brief, not said: %s", dropped, extra={"action": "brief_dropped"})
            self._stored.update(dropped)

    def _slot(self, at: time, now: datetime) -> datetime | None:
        """Return the latest slot that could be said by now."""
        local = now.astimezone(self._zone)
        for days in range(2 if self._hours is None else HELD_BACK.days):
            slot = _slot(at, local - timedelta(days=days))
            if _late_by(slot, now, self._hours) >= timedelta():
                return slot
        return None

    def _title(self, name: str, slot: datetime, now: datetime) -> str:
        """Return what a brief is called: with its day where that is over, and how late it is."""
        is_over = slot.date() != now.astimezone(self._zone).date()
        late = _late_by(slot, now, self._hours)
        day = f" of {slot:%a} {slot.day} {slot:%b}" if is_over else ""
        return f"{TITLES[name]}{day}{f' ({duration(late)} late)' if late >= LATE else ''}"

    def _say(self, due: Mapping[str, datetime], now: datetime) -> None:
        """Say the latest of what is due; it covers the others."""
        before, name = self._stored.read(), max(due, key=lambda each: due[each])
        last, longest = time_of(before.get("said_at")), A_DAY if self._hours is None else HELD_BACK
        since = last if last is not None and now - longest < last < now else now - WINDOW
        try:
            brief = build_brief(self._store, since, now, BriefKind(name))
            self._service.cards.guard.require()  # a brief quotes questions
            days = {each: f"{slot:%Y-%m-%d}" for each, slot in due.items()}
            self._stored.update({**days, "said_at": now.isoformat()})
            self._say_it(brief, self._title(name, due[name], now))
        except Unconfirmed:
            log.info("a brief may have been said", extra={"action": "brief_unconfirmed"})
        except ProviderError:
            self._stored.change(lambda _: before)
            log.warning("no brief could be said", extra={"action": "brief_waits"}, exc_info=True)


def _late_by(slot: datetime, now: datetime, hours: ActiveHours | None) -> timedelta:
    """Return how long ago the first moment was at which a slot could be said."""
    return now - (slot if hours is None else hours.next_opening(slot))


def _slot(at: time, local: datetime) -> datetime:
    return local.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0, fold=0)
