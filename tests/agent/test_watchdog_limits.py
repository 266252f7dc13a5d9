"""Two limits of time on a run, each on its own, and a cancel; real silence on a real socket.

The clock itself is judged in test_watchdog.py by a time that is handed in; benchmarks/model_loop.py measures how
punctual the limits are.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bot.agent.model_run import RunCancelled, RunFailed, RunStopped, RunTimedOut
from tests.agent.modelrun import FINAL, Query, bench, look, patiently, playing
from tests.model_server.script import Turn
from tests.tables import each_row

SILENT = [
    Turn(text="so far " * 9, stall_s=600),
    Turn(text="so far " * 9, stall_s=600, ping_ms=20),
    Turn(silent_start_s=600),
]


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition; pytest-timeout ends what never comes."""
    while not holds():
        time.sleep(0.01)


@each_row("turn", SILENT)
def test_a_silent_model_is_asked_once_more_and_then_given_up(turn: Turn) -> None:
    """The error says which limit it was and what both are."""
    with playing(turn) as server:
        error = bench(server).fail(RunTimedOut, limits={"total_s": 500.0, "stall_s": 0.25})
        until(lambda: len(server.requests) == 2)
    assert (error.timeout_kind, error.timeout_s, error.stall_s) == ("stall", 500.0, 0.25)
    assert str(error) == "the model fell silent for 0.25 s, twice"


@each_row("turn", SILENT[1:])
def test_a_silence_that_passes_costs_one_retry(turn: Turn) -> None:
    """The second attempt answers; the first is paid for as far as it was seen."""

    def attempt(limit_s: float) -> None:
        with playing(turn, look(), FINAL) as server:
            assert bench(server).run(limits={"stall_s": limit_s}).turns == 2
        assert len(server.requests) == 3

    patiently(attempt)


@each_row("turn", SILENT[1:])
def test_the_total_limit_is_never_retried(turn: Turn) -> None:
    """Also where the socket stays alive, also where no response has begun; stall off."""
    with playing(turn) as server:
        error = bench(server).fail(RunTimedOut, limits={"total_s": 0.4, "stall_s": None})
    assert (error.timeout_kind, error.timeout_s, error.stall_s) == ("total", 0.4, None)
    assert len(server.requests) <= 1


@each_row("kind", ["text", "thinking"])
def test_a_slow_model_that_keeps_talking_is_not_silent(kind: str) -> None:
    """The whole reply takes longer than the limit; each chunk starts it anew."""
    words = {kind: "one two three four five " * 8}
    said = {**words, **({"text": '{"text": "x"}'} if kind == "thinking" else {})}

    def attempt(limit_s: float) -> None:
        with playing(Turn(**{"drip_ms": 200 * limit_s, **said}), FINAL) as server:
            bench(server).run(limits={"stall_s": limit_s})
        assert len(server.requests) == (2 if kind == "text" else 1)

    patiently(attempt)


def test_a_slow_model_still_meets_the_total_limit() -> None:
    """Talking all the while does not help against it."""

    def attempt(limit_s: float) -> None:
        with playing(Turn(text="on and on " * 40_000, drip_ms=10)) as server:
            error = bench(server).fail(RunTimedOut, limits={"total_s": 1.5 * limit_s, "stall_s": limit_s})
        assert error.timeout_kind == "total"
        assert error.usage.output_tokens > 50, "what was said until then is paid for"

    patiently(attempt)


def test_a_slow_tool_meets_the_total_limit_and_is_no_silence() -> None:
    """The tool is left behind; the model was not being waited for."""

    def attempt(limit_s: float) -> None:
        release, limits = threading.Event(), {"total_s": 2 * limit_s, "stall_s": limit_s}
        with playing(look(), FINAL) as server:
            error = bench(server).fail(RunTimedOut, tool=lambda _: str(release.wait(600)), limits=limits)
            release.set()
        assert error.timeout_kind == "total"

    patiently(attempt)


def test_a_slow_watcher_is_no_silence() -> None:
    """Time spent showing progress is ours; the chunks wait in the socket meanwhile."""

    def attempt(limit_s: float) -> None:
        with playing(Turn(answer={"text": "x" * 200}, drip_ms=5)) as server:
            bench(server).run(on_progress=lambda _: time.sleep(1.2 * limit_s), limits={"stall_s": limit_s})
        assert len(server.requests) == 1

    patiently(attempt)


def test_a_forced_answer_is_bounded_by_the_total_only() -> None:
    """It is not streamed, so nothing can be heard before it is there."""

    def attempt(limit_s: float) -> None:
        with playing(look(), Turn(answer={"text": "late"}, stall_s=1.5 * limit_s)) as server:
            place = bench(server)
            assert place.run(limits={"stall_s": limit_s, "max_turns": 1}).convergence_forced
            error = place.fail(RunTimedOut, prompt="again?", limits={"total_s": limit_s / 2, "max_turns": 1})
        assert error.timeout_kind == "total"

    patiently(attempt)


def test_cancelling_one_of_two_runs_leaves_the_other_alone() -> None:
    """The same server, the same client, the same moment."""
    cancel, slow = threading.Event(), Turn(answer={"text": "x" * 600}, holds=True)
    with playing(look(), slow) as server, ThreadPoolExecutor(2) as pool:
        place = bench(server)
        kept = pool.submit(place.run, prompt="kept?")
        ended = pool.submit(place.fail, RunCancelled, prompt="ended?", cancel=cancel)
        until(lambda: sum("ended?" in json.dumps(body) for body in place.asked) == 2)  # the first reply is paid for
        cancel.set()
        error = ended.result()
        server.released.set()
        assert error.usage.input_tokens + error.usage.cache_write_tokens > 0
        assert kept.result().answer.model_dump()["text"] == "x" * 600


def test_a_stop_ends_every_run_and_refuses_the_next() -> None:
    """What was spent is known, and a stop is told from somebody's cancel."""
    with playing(look(), Turn(text="so far", stall_s=600)) as server, ThreadPoolExecutor(2) as pool:
        stop = threading.Event()
        place = bench(server, stop=stop)
        runs = [pool.submit(place.fail, RunStopped, prompt=f"{number}?") for number in range(2)]
        until(lambda: len(server.requests) == 4)
        stop.set()
        errors = [run.result() for run in runs]
        assert all(error.usage.input_tokens + error.usage.cache_write_tokens > 0 for error in errors)
        place.fail(RunStopped)
        assert len(server.requests) == 4


def test_no_thread_outlives_its_run() -> None:
    """Whatever the end: answered, silent, cut."""
    before = set(threading.enumerate())
    for turn in (FINAL, Turn(text="so far " * 9, stall_s=9), Turn(text="half", cut="end")):
        with playing(turn) as server, contextlib.suppress(RunFailed):
            bench(server).run(limits={"stall_s": 0.1})
    names = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in names if name in ("watchdog", "tool")]


def test_a_tool_is_not_called_after_the_end(tmp_path: object) -> None:
    """A run that is over has nothing left that could start work."""
    with playing(Turn(text="thinking " * 9, stall_s=0.5), look()) as server:
        place = bench(server)
        place.fail(RunTimedOut, tool=lambda query: place._look(Query(query=str(query))), limits={"total_s": 0.2})
        time.sleep(0.6)
    assert place.calls == []
