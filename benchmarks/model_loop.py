"""The model loop on a scripted provider: its overhead a turn, what the cache saves, how punctual its watchdog is.

Overhead is measured against bare `messages.stream` calls that play the same turns with the same history. Targets: ratio
at most 1.1 with chunks paced at 20 ms (unpaced: reported); the watchdog fires within 0.5 s of its limit, and never
while chunks drip for ten minutes, simulated.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from anthropic import Anthropic
from pydantic import BaseModel

from bot.adapters.clocks import SystemClock
from bot.agent.loop import AnthropicRunner
from bot.agent.model_run import RunLimits, RunRequest, RunTimedOut
from bot.agent.tools.base import Tool
from bot.agent.watchdog import Watchdog
from tests.model_server import ModelServer, Turn
from tests.model_server.script import Call, single

TURNS = 6
REPEATS = {20.0: 5, 0.0: 40}
TARGET = 1.1
PUNCTUAL_S = 0.5
PACED_MS = 20.0


class Query(BaseModel):
    """What the one tool takes."""

    query: str


class Answer(BaseModel):
    """What a run is asked for."""

    text: str


def _turns(drip_ms: float) -> list[Turn]:
    thinking = "I compare what the handler does with what the caller expects. " * 6
    calls = [
        Turn(thinking=thinking, calls=(Call(name="look", input={"query": f"word {n}"}),)) for n in range(TURNS - 1)
    ]
    return [turn.model_copy(update={"drip_ms": drip_ms}) for turn in [*calls, Turn(answer={"text": "done " * 40})]]


def _request(number: int, **limits: Any) -> RunRequest:
    found = "src/app.py\n" + "\n".join(f"{line}| value = compute(value)" for line in range(60))
    return RunRequest(
        model="claude-opus-5-5",
        system="You look things up. " * 150,
        rubric="Rubric: say where it stands. " * 20,
        prompt=f"Question {number}?",
        tools=[Tool(name="look", description="Looks.", call=lambda _: found, arguments=Query)],
        answer=Answer,
        limits=RunLimits(**limits),
    )


def _bare(client: Anthropic, bodies: list[dict[str, Any]]) -> None:
    """Play a run's requests again with the SDK alone."""
    for body in bodies:
        with client.messages.stream(**{name: value for name, value in body.items() if name != "stream"}) as stream:
            stream.get_final_message()


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000 / TURNS


def _overhead(drip_ms: float) -> float:
    """Print the median milliseconds a turn of both, measured in turns, and return their ratio."""
    ours, bare = [], []
    with ModelServer(single(*_turns(drip_ms))) as server:
        client = Anthropic(api_key="bench", base_url=server.url, max_retries=0)
        runner = AnthropicRunner(client, clock=SystemClock(), monotonic=time.monotonic)
        runner.run(_request(-1))
        for number in range(REPEATS[drip_ms]):
            at = len(server.requests)
            ours.append(_timed(lambda number=number: runner.run(_request(number))))  # type: ignore[misc]
            bodies = [entry["body"] for entry in server.requests[at:]]
            bare.append(_timed(lambda bodies=bodies: _bare(client, bodies)))  # type: ignore[misc]
    our_ms, bare_ms = statistics.median(ours), statistics.median(bare)
    pace = f"chunks {drip_ms:g} ms apart" if drip_ms else "unpaced"
    print(f"{pace:<20} {our_ms:7.2f} ms a turn, bare {bare_ms:7.2f}, ratio {our_ms / bare_ms:.3f}")
    return our_ms / bare_ms


def _cache_share() -> None:
    """Print how much of the input of several runs is read from the cache, by the server's log."""
    with ModelServer(single(*_turns(0))) as server:
        client = Anthropic(api_key="bench", base_url=server.url, max_retries=0)
        runner = AnthropicRunner(client, clock=SystemClock(), monotonic=time.monotonic)
        for number in range(5):
            runner.run(_request(number))
        for name, entries in {"first run": server.requests[:TURNS], "later runs": server.requests[TURNS:]}.items():
            total = sum(sum(entry["usage"].values()) for entry in entries)
            read = sum(entry["usage"]["cache_read_input_tokens"] for entry in entries)
            opening = entries[0]["usage"]
            share = opening["cache_read_input_tokens"] / sum(opening.values())
            print(f"cache, {name:<11} {read / total:5.0%} of the input read from it, of an opening request {share:.0%}")


def _lateness_s(turn: Turn, **limits: float | None) -> float:
    """Return how long after its limit a run ends."""
    limit = next(value for value in limits.values() if value is not None)
    with ModelServer(single(turn)) as server:
        client = Anthropic(api_key="bench", base_url=server.url, max_retries=0)
        runner = AnthropicRunner(client, clock=SystemClock(), monotonic=time.monotonic)
        start = time.monotonic()
        try:
            runner.run(_request(0, **limits))
        except RunTimedOut as error:
            attempts = 2 if error.timeout_kind == "stall" else 1
            return (time.monotonic() - start) / attempts - limit
    raise AssertionError("the run answered")


def _punctuality_s() -> float:
    """Print how late each limit fires, and return the worst."""
    silent = {"stall_s": 60.0, "after_chunks": 2}
    text = "so far so good " * 20
    cases: dict[str, tuple[Turn, dict[str, float | None]]] = {
        "stall, silent socket": (Turn(text=text, **silent), {"stall_s": 1.0, "total_s": None}),
        "stall, pings": (Turn(text=text, ping_ms=50, **silent), {"stall_s": 1.0, "total_s": None}),
        "stall, no response": (Turn(silent_start_s=60), {"stall_s": 1.0, "total_s": None}),
        "total, silent socket": (Turn(text=text, **silent), {"total_s": 1.0, "stall_s": None}),
        "total, no response": (Turn(silent_start_s=60), {"total_s": 1.0, "stall_s": None}),
        "total, dripping": (Turn(text=text * 9, drip_ms=20), {"total_s": 1.0, "stall_s": None}),
    }
    late = {name: _lateness_s(turn, **limits) for name, (turn, limits) in cases.items()}
    for name, seconds in late.items():
        print(f"watchdog, {name:<22} fires {seconds * 1000:4.0f} ms after its limit")
    return max(late.values())


def _false_alarms() -> int:
    """Print and return how often a stall limit of 60 s is due in ten minutes of chunks, a chunk each 0.02 to 59 s."""
    alarms, now = 0, 0.0
    watch = Watchdog(total_s=None, stall_s=60.0, monotonic=lambda: now)
    for gap in (0.02, 1.0, 59.0):
        with watch.listening():
            for _ in range(int(600 / gap) + 1):
                now += gap
                alarms += watch.due() is not None
                watch.touch()
    print(f"watchdog, ten minutes of dripping chunks (simulated): {alarms} false alarms")
    return alarms


def main() -> int:
    """Print all of it and return 0 if the targets are met."""
    paced = _overhead(PACED_MS)
    _overhead(0.0)
    _cache_share()
    late_s, alarms = _punctuality_s(), _false_alarms()
    print(f"paced ratio {paced:.3f} (target at most {TARGET}), latest alarm {late_s:.2f} s (at most {PUNCTUAL_S})")
    return 0 if paced <= TARGET and late_s <= PUNCTUAL_S and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
