"""The ticker: small jobs at their intervals, none of which can stop another."""

from __future__ import annotations

import threading

from bot.ticker import Ticker

WAIT_S = 20


def test_a_job_that_raises_stops_neither_itself_nor_its_siblings() -> None:
    """Both jobs run again and again although one always fails."""
    failed, ran = threading.Semaphore(0), threading.Semaphore(0)

    def fails() -> None:
        failed.release()
        raise RuntimeError("broken")

    ticker = Ticker()
    ticker.every(1, fails)
    ticker.every(1, ran.release)
    ticker.start()
    try:
        for semaphore in (failed, ran, failed, ran):
            assert semaphore.acquire(timeout=WAIT_S)
    finally:
        ticker.stop()
