"""What is asked again, after how long, and what people are told when it does not help."""

from __future__ import annotations

import time

import pytest

from bot.agent.run import RunFailed, RunTimedOut
from tests.agent.modelrun import FINAL, KEY, bench, look, playing
from tests.model_server.script import Turn


def test_a_rate_limit_is_waited_out_as_long_as_it_asks() -> None:
    """Retry-After, in fractions of a second here."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after="0.4"), FINAL) as server:
        start = time.monotonic()
        bench(server).run()
    assert 0.4 <= time.monotonic() - start < 4


def test_a_rate_limit_longer_than_the_run_is_not_waited_for() -> None:
    """The SDK alone would sleep an hour; the caller gets the advice instead."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after="3600")) as server:
        start = time.monotonic()
        error = bench(server).fail()
    assert time.monotonic() - start < 4
    assert error.retry_after_s == 3600
    assert "limiting our rate" in str(error)
    assert len(server.requests) == 1


def test_an_overload_passes() -> None:
    """529 twice, then an answer: two waits of half a second and one."""
    with playing(Turn(status=529, error="overloaded_error", retry_after="0.01"), look(), FINAL) as server:
        assert bench(server).run().turns == 2


def test_an_overload_that_stays_ends_the_run_after_four_attempts() -> None:
    """The SDK's own retries are off, so they do not multiply with ours."""
    with playing(Turn(status=529, error="overloaded_error", retry_after="0.01")) as server:
        assert "overloaded" in str(bench(server).fail())
    assert len(server.requests) == 4


def test_the_total_limit_bounds_the_waiting() -> None:
    """Each wait is short enough by itself; together they are not."""
    with playing(Turn(status=529, error="overloaded_error", retry_after="0.3")) as server:
        start = time.monotonic()
        error = bench(server).fail(limits={"total_s": 0.5})
    assert time.monotonic() - start < 4
    assert isinstance(error, RunFailed)
    assert not isinstance(error, RunTimedOut)


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (401, "authentication_error", "check ANTHROPIC_API_KEY"),
        (403, "permission_error", "claude-opus-5-5"),
        (404, "not_found_error", "`investigator.model`"),
        (400, "invalid_request_error", "invalid"),
        (413, "request_too_large", "narrower"),
    ],
)
def test_what_cannot_help_is_not_asked_again(status: int, kind: str, told: str) -> None:
    """People read what to do; the vendor's words and the key stay out of it."""
    with playing(Turn(status=status, error=kind, message=f"bad {KEY} given")) as server:
        error = bench(server).fail()
    assert told in str(error)
    assert KEY not in str(error)
    assert "scripted" not in str(error)
    assert len(server.requests) == 1


def test_a_provider_that_is_not_there_is_named_as_such() -> None:
    """Nothing listens at the address any more."""
    with playing(FINAL) as server:
        place = bench(server)
    assert "could not be reached" in str(place.fail(limits={"total_s": 1.0}))
