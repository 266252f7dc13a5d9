"""The numbers of the week's picture: seven times 24 hours up to a moment, counted as metrics and brief count them.

Pure but for `read_week`, which reads the data directory; writes nothing, needs no running bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final

from bot.casework.reports.acceptance import BAND, first_round_passes
from bot.casework.reports.journal_history import BeatHistory, JournalHistory, count_past, read_beats
from bot.casework.reports.measures import Window, dollars, from_us, measure_total, percent
from bot.casework.reports.metrics_report import Tally, tally
from bot.casework.reports.rollups import Rollups, uncounted_words
from bot.domain.questions.week_summary import Counts, DailyCounts, ShareWithBand, WeekCost, WeekSummary
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadStatus
from bot.ports import Store

DAYS: Final = 7


def read_week(
    store: Store, rollups: Rollups, now: datetime, zone: tzinfo, *, at_most: int | None = None
) -> WeekSummary:
    """Return the week before now, its days named in a zone, and what of it is not counted yet.

    `at_most` is how many closed threads may be taken in for it. Raises StoreError for what cannot be read.
    """
    window = Window.last(DAYS, now)
    past = count_past(store, rollups, window.start, now, at_most=at_most)
    beats = read_beats(rollups, window.start, now)
    return replace(build_week(past, beats, window, zone), uncounted=uncounted_words(past.uncounted, is_short=True))


def build_week(past: JournalHistory, beats: BeatHistory, window: Window, zone: tzinfo) -> WeekSummary:
    """Return the numbers of a window of seven days; the parts of every bar add up to what metrics say of the whole."""
    days = window.parts(DAYS)
    whole, daily = tally(past, window), [tally(past, day) for day in days]
    return WeekSummary(
        until=f"{window.end.astimezone(zone):%a %d %b %Y, %H:%M %Z}",
        labels=[_label(day, zone) for day in days],
        bars=(_drafts(past, whole, days, daily), _messages(past, whole, days, daily), _beats(beats, window, days)),
        gauge=_gauge(past, window),
        cost=_cost(past, whole, window),
    )


def _label(day: Window, zone: tzinfo) -> str:
    """Name 24 hours by the date that most of them belong to."""
    return f"{(day.start + (day.end - day.start) / 2).astimezone(zone):%a %d}"


def _drafts(past: JournalHistory, whole: Tally, days: Sequence[Window], daily: Sequence[Tally]) -> DailyCounts:
    waiting = sum(thread.status == ThreadStatus.PENDING_USER for thread in past.threads)
    began = [
        past.recorded_since,
        *(each.at for each in past.replies),
        *(from_us(each.started_us) for each in past.threads),
    ]
    since = min((at for at in began if at is not None), default=None)
    return DailyCounts(
        title="Drafts",
        main=counted(whole.replies, "reply posted", "replies posted"),
        rest=f"{whole.dismissed:,} dismissed",
        note=f"{waiting:,} wait{'s' * (waiting == 1)} now" if waiting else "none waits now",
        days=_on_record([(each.replies, each.dismissed) for each in daily], days, since),
        missing="" if since else "nothing was recorded",
    )


def _messages(past: JournalHistory, whole: Tally, days: Sequence[Window], daily: Sequence[Tally]) -> DailyCounts:
    counts = [(each.actionable, each.messages - each.actionable) for each in daily]
    part = f" ({percent(whole.actionable_share)})" if whole.messages else ""
    return DailyCounts(
        title="Messages",
        main=f"{whole.actionable:,} actionable{part}",
        rest=f"{whole.messages - whole.actionable:,} ignored",
        note=f"{whole.messages:,} read",
        days=_on_record(counts, days, past.recorded_since),
        missing="" if past.recorded_since else "no message was recorded",
    )


def _beats(beats: BeatHistory, window: Window, days: Sequence[Window]) -> DailyCounts:
    ran = [beat for beat in beats.ran if window.holds(beat.at)]
    alerts, failed = sum(beat.is_alert for beat in ran), sum(beat.is_failed for beat in ran)
    counts = []
    for day in days:
        loud = [beat.is_alert or beat.is_failed for beat in ran if day.holds(beat.at)]
        counts.append((sum(loud), len(loud) - sum(loud)))
    return DailyCounts(
        title="Heartbeats",
        main=f"{counted(alerts, 'alert')}, {failed:,} failed" if failed else counted(alerts, "alert"),
        rest=f"{len(ran) - alerts - failed:,} quiet",
        note=counted(len(ran), "beat"),
        days=_on_record(counts, days, beats.recorded_since),
        warns=True,
        missing="" if beats.recorded_since else "no beat was recorded",
    )


def _on_record(counts: Sequence[Counts], days: Sequence[Window], since: datetime | None) -> list[Counts | None]:
    """Leave out the days that ended before anything was recorded."""
    return [each if since and since < day.end else None for each, day in zip(counts, days, strict=True)]


def _gauge(past: JournalHistory, window: Window) -> ShareWithBand:
    measure, title = first_round_passes(past, window), "First rounds that pass"
    if measure.missing or measure.value is None:
        return ShareWithBand(title=title, value=None, shown="not enough data", says=measure.missing, band=BAND)
    side = "within the band" if measure.ok else "below the band" if measure.value < BAND[0] else "above the band"
    return ShareWithBand(
        title=title,
        value=measure.value,
        shown=measure.shown,
        says=f"of {measure.n:,} drafts; {side} of {measure.target}",
        band=BAND,
    )


def _cost(past: JournalHistory, whole: Tally, window: Window) -> WeekCost:
    spent = [each.cost_usd for each in past.spent if window.holds(each.at)]
    if not spent:
        return WeekCost(shown="$0.00", says="no model run")
    runs, cost = counted(len(spent), "model run"), measure_total(spent)
    if cost is None:
        return WeekCost(shown="unknown", says=f"{runs}; a model has no price")
    return WeekCost(shown=_usd(cost), says=f"{runs}; questions {_usd(whole.cost_usd)}")


def _usd(cost: float | None) -> str:
    return f"${cost:,.2f}" if cost is not None and cost >= 1 else dollars(cost)
