"""Answers `/triage metrics` and keeps the rollups up to date: a little at a time, so that nobody waits for it."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Final

from bot.casework.reports.journal_history import read_past
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import MetricsReport, build_metrics
from bot.casework.reports.rollups import Allowance, Rollups
from bot.domain.questions.auto_reply import WEEKS
from bot.errors import StoreError
from bot.ports import Clock, Store

DAYS: Final = 7
SINCE: Final = timedelta(days=7 * WEEKS + 1)
"""What the report looks back on: the weeks of replies without a human, and a day."""
REST: Final = timedelta(minutes=1)
"""Between two looks at what is new, once everything is counted."""


class MetricsService:
    """The report of the last seven days, and the ticks that count what is new; safe in several threads."""

    def __init__(self, store: Store, rollups: Rollups, clock: Clock, *, baseline_reply_s: float | None) -> None:
        self._store, self._rollups, self._clock = store, rollups, clock
        self._baseline_reply_s = baseline_reply_s
        self._lock = threading.Lock()
        self._under_way: Future[MetricsReport] | None = None
        self._counted_at: datetime | None = None
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
        """Count what is new; the first time, and after a restart, the whole archive. Raises StoreError."""
        now, last = self._clock.now(), self._counted_at
        if last is not None and timedelta() <= now - last < REST:
            return
        since = None if last is None else last - timedelta(days=1)
        if not self._rollups.catch_up(now, since, allow=Allowance.for_one_look()):
            self._counted_at = now

    def _report(self) -> MetricsReport:
        now = self._clock.now()
        backlog = self._rollups.catch_up(now, now - SINCE, allow=Allowance.for_one_look())
        window = Window.last(DAYS, now)
        past = read_past(self._store, self._rollups, window.start, now, drafts_since=now - SINCE)
        backlog = backlog._replace(has_records=past.has_uncounted_records)
        return build_metrics(past, window, baseline_reply_s=self._baseline_reply_s, backlog=backlog)
