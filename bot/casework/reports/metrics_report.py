"""The metrics report: the criteria AC-01 to AC-11 (docs/metrics.md) and the counts behind them, week by week.

`MetricsService` answers `/triage metrics` and updates the rollups a little at a time, so that nobody waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bot.casework.reports.acceptance import acceptance, errors_in, threads_of, waited_s
from bot.casework.reports.classifier_samples import ErrorRate
from bot.casework.reports.journal_history import JournalHistory, count_past
from bot.casework.reports.measures import Measure, Window, dollars, measure_total, middle, seconds, share
from bot.casework.reports.rollups import THREADS_AT_ONCE, Rollups, day_after_kept, uncounted_words
from bot.domain.questions.feedback import Votes, count_votes, votes_words
from bot.domain.returns import Verdict
from bot.domain.threads import Resolution
from bot.errors import StoreError
from bot.ports import Clock, Store

DAYS: Final = 7
REST: Final = timedelta(minutes=1)
"""Between two looks at what is new, once everything is counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """What happened in a window; a time or a cost is None where there is none to be had."""

    messages: int
    actionable: int
    threads: int
    verdicts: dict[str, int]
    """Of all validated rounds: pass, bounce, escalate."""
    first_rounds: int
    first_passed: int
    bounced: int
    bounce_helped: int
    long_runs: int
    fabricated: int
    approved: int
    edited: int
    dismissed: int
    replies: int
    to_reply_s: float | None
    """The median from the message to its reply."""
    to_approve_s: float | None
    """The median from the card that waits to the click."""
    cost_usd: float | None
    """Of all runs of threads; None where a run's price is unknown."""
    helpful: int = 0
    """Votes on posted replies, the last one of each person."""
    not_helpful: int = 0

    @property
    def votes(self) -> Votes:
        """What people said of posted replies."""
        return Votes(self.helpful, self.not_helpful)

    @property
    def actionable_share(self) -> float | None:
        """The share of messages that the rules took for work."""
        return share(self.actionable, self.messages)

    @property
    def first_pass_share(self) -> float | None:
        """The share of first rounds that passed."""
        return share(self.first_passed, self.first_rounds)

    @property
    def cost_per_reply_usd(self) -> float | None:
        """What a reply that a human accepted cost, all the others included."""
        return self.cost_usd / self.replies if self.replies and self.cost_usd is not None else None


class WeekFigures(NamedTuple):
    """One week; `errors` is how often messages were wrongly ignored, and wrongly taken for work."""

    window: Window
    tally: Tally
    errors: tuple[ErrorRate, ErrorRate]


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """Everything `triage metrics` says of one window; `weeks` has the latest first."""

    window: Window
    criteria: Sequence[Measure]
    tally: Tally
    weeks: Sequence[WeekFigures] = ()
    unreadable: int = 0
    uncounted: str = ""
    """What is not in the counts yet, in words."""


def build_metrics(
    past: JournalHistory,
    window: Window,
    *,
    weeks: int = 0,
    baseline_reply_s: float | None = None,
) -> MetricsReport:
    """Return what is measured over a window."""
    return MetricsReport(
        window=window,
        criteria=acceptance(past, window, baseline_reply_s=baseline_reply_s),
        tally=tally(past, window),
        weeks=[WeekFigures(week, tally(past, week), errors_in(past, week)) for week in window.weeks(weeks)],
        unreadable=past.unreadable,
        uncounted=uncounted_words(past.uncounted),
    )


def tally(past: JournalHistory, window: Window) -> Tally:
    """Return the counts of a window."""
    threads = threads_of(past, window)
    verdicts = [verdict for each in threads for verdict in each.verdicts]
    firsts = [verdict for each in threads for verdict in each.first_verdicts]
    pairs = [each.helped for each in threads if each.helped is not None]
    start, end = window.bounds_us
    messages, actionable = past.count_heard(window)
    waits = [each.decided_after_s for each in past.threads if each.approved_us and start <= each.approved_us < end]
    ends = [each.resolution for each in past.threads if each.closed_us and start <= each.closed_us < end]
    replies = [each for each in past.replies if window.holds(each.at)]
    return Tally(
        messages=messages,
        actionable=actionable,
        threads=len(threads),
        verdicts={verdict.value: verdicts.count(verdict) for verdict in Verdict},
        first_rounds=len(firsts),
        first_passed=firsts.count(Verdict.PASS),
        bounced=len(pairs),
        bounce_helped=sum(pairs),
        long_runs=sum(thread.is_escalated for thread in threads),
        fabricated=sum(each.fabricated for each in threads),
        approved=ends.count(Resolution.APPROVED),
        edited=ends.count(Resolution.EDITED),
        dismissed=ends.count(Resolution.DISMISSED),
        replies=len(replies),
        to_reply_s=middle(wait for each in replies if (wait := waited_s(each)) is not None),
        to_approve_s=middle(wait for wait in waits if wait is not None),
        cost_usd=measure_total(each.cost_usd for each in past.spent if window.holds(each.at) and each.is_of_thread),
        **count_votes(vote for vote in past.votes if window.holds(vote.at))._asdict(),
    )


def tally_lines(tally: Tally) -> list[str]:
    """Return the counts in words, a line for each kind; each fits a terminal."""
    of = tally.verdicts
    return [
        f"messages {tally.messages:,}, threads {tally.threads:,}, long runs {tally.long_runs}",
        f"drafts: {of['pass']} pass, {of['bounce']} bounce, {of['escalate']} escalate;"
        f" {tally.fabricated} fabricated references caught",
        f"{tally.approved} approved, {tally.edited} edited, {tally.dismissed} dismissed; replies {tally.replies}",
        f"median time to approval {seconds(tally.to_approve_s)}, to reply {seconds(tally.to_reply_s)};"
        f" cost per reply {dollars(tally.cost_per_reply_usd)}",
        f"feedback: {votes_words(tally.votes)}",
    ]


class MetricsService:
    """The report of the last seven days, and the ticks that count what is new; safe in several threads."""

    def __init__(self, store: Store, rollups: Rollups, clock: Clock, *, baseline_reply_s: float | None) -> None:
        self._store, self._rollups, self._clock = store, rollups, clock
        self._baseline_reply_s = baseline_reply_s
        self._lock = threading.Lock()
        self._under_way: Future[MetricsReport] | None = None
        self._counted_at: datetime | None = None
        self._kept_until = ""
        self.waiting = 0
        """How many ask for the report that is being made."""

    def report(self) -> MetricsReport:
        """Return the report; one is made at a time, and whoever asks meanwhile gets that one. Raises StoreError."""
        with self._lock:
            shared = self._under_way
            self.waiting += shared is not None
            mine = self._under_way = shared or Future()
        if shared is not None:
            return shared.result()
        try:
            mine.set_result(self._report())
        except StoreError as error:
            mine.set_exception(error)
        finally:
            mine.cancel()  # where anything else was raised, nobody waits for ever
            with self._lock:
                self._under_way, self.waiting = None, 0
        return mine.result()

    def tick(self) -> None:
        """Count what is new; the first time, and after a restart, the whole archive. Raises StoreError.

        Once a day it keeps the journals' days that are over: the commands of the terminal keep nothing.
        """
        now, last = self._clock.now(), self._counted_at
        if self._kept_until != (until := day_after_kept(now)):
            self._rollups.keep_days(Window.last(DAYS, now).start, now)
            self._kept_until = until
        if last is not None and timedelta() <= now - last < REST:
            return
        since = None if last is None else last - timedelta(days=1)
        if not self._rollups.catch_up(since, at_most=THREADS_AT_ONCE):
            self._counted_at = now

    def _report(self) -> MetricsReport:
        now = self._clock.now()
        window = Window.last(DAYS, now)
        past = count_past(self._store, self._rollups, window.start, now, at_most=THREADS_AT_ONCE)
        return build_metrics(past, window, baseline_reply_s=self._baseline_reply_s)
