"""Two limits of time on a run, each on its own, and a cancel; real silence on a real socket.

Upper bounds leave room for a busy machine and stay far below the scripted silence of ten minutes;
benchmarks/model_loop.py measures how punctual the limits are.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from bot.agent.model_run import RunCancelled, RunFailed, RunStopped, RunTimedOut
from tests.agent.modelrun import FINAL, Query, bench, look, playing
from tests.model_server.script import Turn
from tests.tables import each_row

SILENT = [
    Turn(text="so far " * 9, stall_s=600),
    Turn(text="so far " * 9, stall_s=600, ping_ms=20),
    Turn(silent_start_s=600),
]


@each_row("turn", SILENT)
def test_a_silent_model_is_asked_once_more_and_then_given_up(turn: Turn) -> None:
    """The error says which limit it was and what both are; each silence lasts as long as the limit, not longer."""
    with playing(turn) as server:
        start = time.monotonic()
        error = bench(server).fail(RunTimedOut, limits={"total_s": 500.0, "stall_s": 1.0})
        took = time.monotonic() - start
    assert (error.timeout_kind, error.timeout_s, error.stall_s) == ("stall", 500.0, 1.0)
    assert str(error) == "the model fell silent for 1 s, twice"
    assert len(server.requests) == 2
    assert 2.0 <= took < 300


@each_row("turn", SILENT)
def test_a_silence_that_passes_costs_one_retry(turn: Turn) -> None:
    """The second attempt answers; the first is paid for as far as it was seen."""
    with playing(turn, look(), FINAL) as server:
        assert bench(server).run(limits={"stall_s": 4.0}).turns == 2
    assert len(server.requests) == 3


@each_row("turn", SILENT)
def test_the_total_limit_is_never_retried(turn: Turn) -> None:
    """Also where the socket stays alive, also where no response has begun; stall off."""
    with playing(turn) as server:
        start = time.monotonic()
        error = bench(server).fail(RunTimedOut, limits={"total_s": 0.4, "stall_s": None})
        took = time.monotonic() - start
    assert (error.timeout_kind, error.timeout_s, error.stall_s) == ("total", 0.4, None)
    assert len(server.requests) == 1
    assert 0.4 <= took < 300


@each_row("kind", ["text", "thinking"])
def test_a_slow_model_that_keeps_talking_is_not_silent(kind: str) -> None:
    """The whole reply takes many times the limit; each chunk starts it anew."""
    words = {kind: "one two three four five " * 12}
    slow = Turn(**{"drip_ms": 300, **words, **({"text": '{"text": "x"}'} if kind == "thinking" else {})})
    with playing(slow, FINAL) as server:
        bench(server).run(limits={"stall_s": 3.0})


def test_a_slow_model_still_meets_the_total_limit() -> None:
    """Talking all the while does not help against it."""
    with playing(Turn(text="on and on " * 4_000, drip_ms=20)) as server:
        error = bench(server).fail(RunTimedOut, limits={"total_s": 4.0, "stall_s": 3.0})
    assert error.timeout_kind == "total"
    assert error.usage.output_tokens > 50, "what was said until then is paid for"


def test_a_slow_tool_meets_the_total_limit_and_is_no_silence() -> None:
    """The tool is left behind; the model was not being waited for."""
    with playing(look(), FINAL) as server:
        place, release = bench(server), threading.Event()
        error = place.fail(RunTimedOut, tool=lambda _: str(release.wait(600)), limits={"total_s": 3.0, "stall_s": 1.5})
        release.set()
    assert error.timeout_kind == "total"


def test_a_slow_watcher_is_no_silence() -> None:
    """Time spent showing progress is ours; the chunks wait in the socket meanwhile."""
    with playing(Turn(answer={"text": "x" * 200}, drip_ms=5)) as server:
        bench(server).run(on_progress=lambda _: time.sleep(2), limits={"stall_s": 1.5})


def test_a_forced_answer_is_bounded_by_the_total_only() -> None:
    """It is not streamed, so nothing can be heard before it is there."""
    forced = Turn(answer={"text": "late"}, stall_s=2.0)
    with playing(look(), forced) as server:
        place = bench(server)
        assert place.run(limits={"stall_s": 1.5, "max_turns": 1}).convergence_forced
        error = place.fail(RunTimedOut, prompt="again?", limits={"total_s": 0.3, "max_turns": 1})
    assert error.timeout_kind == "total"


def test_cancelling_one_of_two_runs_leaves_the_other_alone() -> None:
    """The same server, the same client, the same moment."""
    cancel, slow = threading.Event(), Turn(answer={"text": "x" * 600}, drip_ms=150)
    with playing(look(), slow) as server, ThreadPoolExecutor(2) as pool:
        place = bench(server)
        kept = pool.submit(place.run, prompt="kept?")
        ended = pool.submit(place.fail, RunCancelled, prompt="ended?", cancel=cancel)
        while sum("ended?" in json.dumps(body) for body in place.asked) < 2:  # the first reply is paid for
            time.sleep(0.01)
        cancel.set()
        start = time.monotonic()
        error = ended.result()
        assert time.monotonic() - start < 300
        assert error.usage.input_tokens + error.usage.cache_write_tokens > 0
        assert kept.result().answer.model_dump()["text"] == "x" * 600


def test_a_stop_ends_every_run_and_refuses_the_next() -> None:
    """What was spent is known, and a stop is told from somebody's cancel."""
    with playing(look(), Turn(text="so far", stall_s=600)) as server, ThreadPoolExecutor(2) as pool:
        stop = threading.Event()
        place = bench(server, stop=stop)
        runs = [pool.submit(place.fail, RunStopped, prompt=f"{number}?") for number in range(2)]
        while len(server.requests) < 4:
            time.sleep(0.01)
        stop.set()
        start = time.monotonic()
        errors = [run.result() for run in runs]
        assert time.monotonic() - start < 300
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
