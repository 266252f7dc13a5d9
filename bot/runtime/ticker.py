"""Runs functions at intervals; the library `schedule` only ticks.

A job that raises would stop the others and be run again at once (schedule 1.2.2, measured), so each is wrapped and its
error only logged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import schedule

from bot.errors import StoreError, Unavailable

log = logging.getLogger(__name__)

TICK_S = 1.0


class Ticker:
    """One thread that runs small jobs, each at its interval times `time_scale`."""

    def __init__(self, time_scale: float = 1.0) -> None:
        self._time_scale = time_scale
        self._scheduler = schedule.Scheduler()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def every(self, seconds: int, job: Callable[[], object]) -> None:
        """Run `job` every so many seconds from now on; call before `start`."""
        self._scheduler.every(seconds * self._time_scale).seconds.do(_Safely(job))  # type: ignore[arg-type]  # any number

    def start(self) -> None:
        """Begin to tick."""
        self._thread.start()

    def stop(self) -> None:
        """Tick no more; returns once a job under way has ended, or after 2 s. Nothing where it never began."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stopping.wait(TICK_S * self._time_scale):
            self._keep_pace()
            self._scheduler.run_pending()

    def _keep_pace(self) -> None:
        """Have no job wait longer than its interval because the clock went back, as the local one does every autumn."""
        now = datetime.now()  # naive and local, as schedule counts
        for job in self._scheduler.jobs:
            if job.next_run is not None and job.next_run - now > timedelta(seconds=job.interval):
                job.next_run = now


class _Safely:
    """A job whose error ends nothing; what it waits for is logged once, not at every tick."""

    def __init__(self, job: Callable[[], object]) -> None:
        self._job, self._waits_for = job, ""

    def __call__(self) -> None:
        """Run it."""
        waits_for = ""
        try:
            self._job()
        except (Unavailable, StoreError) as error:
            waits_for = str(error)
            if waits_for != self._waits_for:
                log.warning("a ticked job waits: %s", error, extra={"action": "tick_waits"})
        except Exception:
            log.exception("a ticked job failed", extra={"action": "tick_failed"})
        self._waits_for = waits_for
