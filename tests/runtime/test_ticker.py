"""The ticker: small jobs at their intervals, none of which can stop another."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from bot.errors import StoreError
from bot.runtime.duties import Ticker

WAIT_S = 120


def test_a_job_that_raises_stops_neither_itself_nor_its_siblings() -> None:
    """Both jobs run again and again although one always fails."""
    failed, ran = [], []

    def fails() -> None:
        failed.append("once more")
        raise RuntimeError("broken")

    ticker = Ticker()
    ticker.every(1, fails)
    ticker.every(1, lambda: ran.append("once more"))
    for _ in range(2):
        tick(ticker)
    assert len(failed) == len(ran) == 2


def test_what_a_job_waits_for_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Not at every tick, and without a traceback; something else is said again."""
    reasons = iter(["folder of another user"] * 2 + ["disk full"])

    def waits() -> None:
        if reason := next(reasons, ""):
            raise StoreError(reason)

    ticker = Ticker()
    ticker.every(1, waits)
    for _ in range(4):
        tick(ticker)
    logged = [record for record in caplog.records if record.name == "bot.runtime.duties"]
    assert [(record.levelname, record.exc_info) for record in logged] == [("WARNING", None)] * 2


def tick(ticker: Ticker) -> None:
    """Run all jobs, as if they were due."""
    ticker._scheduler.run_all()


@pytest.fixture
def utc() -> Iterator[None]:
    """This process counts in UTC, and afterwards as before."""
    before = os.environ.get("TZ")
    _set_zone("UTC")
    yield
    _set_zone(before)


def test_a_clock_that_goes_back_an_hour_stops_nothing(utc: None) -> None:
    """As the local one does every autumn: what is due in a second still is."""
    ran = threading.Semaphore(0)
    ticker = Ticker()
    ticker.every(1, ran.release)
    _set_zone("Etc/GMT+1")
    ticker.start()
    try:
        assert ran.acquire(timeout=WAIT_S)
    finally:
        ticker.stop()


def _set_zone(name: str | None) -> None:
    if name is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = name
    time.tzset()


def test_time_can_run_faster() -> None:
    """A job of every minute runs within a moment where a minute is a moment."""
    ran = threading.Event()
    ticker = Ticker(time_scale=0.001)
    ticker.every(60, ran.set)
    ticker.start()
    assert ran.wait(WAIT_S)
    ticker.stop()


def test_a_ticker_that_never_began_stops() -> None:
    """A start that was broken off has to end as well."""
    Ticker().stop()
