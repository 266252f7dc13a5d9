"""A run from its request to its answer: tools, progress, circles, record, cache, and two at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bot.agent.ledger import Ledger
from bot.agent.model_run import RunProgress
from bot.agent.tools.base import ToolProblem
from bot.errors import ProviderError
from tests.agent.modelrun import FINAL, KEY, Answer, Query, bench, look, playing
from tests.model_server import ModelServer
from tests.model_server.script import Call, Part, Role, Script, Turn
from tests.tables import each_row


def results_in(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tool results in the last message of a request."""
    return [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]


def test_a_tool_is_called_and_its_result_goes_back() -> None:
    """Two turns, one call, an answer of the asked type."""
    with playing(look("limits"), FINAL) as server:
        place = bench(server)
        result = place.run()
    assert (result.answer, result.turns, result.tool_calls) == (Answer(text="done"), 2, 1)
    assert not result.convergence_forced
    assert place.calls == ["limits"]
    assert results_in(place.asked[1])[0]["content"] == "src/app.py:7: found limits"


def test_the_whole_history_is_sent_every_turn_and_no_server_thread_is_opened() -> None:
    """So a proxy, a log or another provider sees all there is."""
    with playing(look("a"), look("b"), FINAL) as server:
        place = bench(server)
        place.run()
    assert [len(body["messages"]) for body in place.asked] == [1, 3, 5]
    assert not any("thread" in body for body in place.asked)


def test_wrong_arguments_and_problems_are_told_to_the_model() -> None:
    """As error results, in words; the run goes on."""

    def refuse(query: Query) -> str:
        raise ToolProblem(f"{query.query}: no such thing; try another word")

    wrong = Turn(calls=(Call(name="look", input={"wrong": 1}), Call(name="look", input={"query": "x"})))
    with playing(wrong, FINAL) as server:
        place = bench(server)
        place.run(tool=refuse)
    first, second = results_in(place.asked[1])
    assert first["is_error"]
    assert "query: Field required" in first["content"]
    assert second["is_error"]
    assert second["content"] == "x: no such thing; try another word"


def test_a_tool_nobody_offered_is_an_error_result(recwarn: pytest.WarningsRecorder) -> None:
    """Nothing outside the list runs."""
    with playing(Turn(calls=(Call(name="post_message", input={"text": "hi"}),)), FINAL) as server:
        place = bench(server)
        assert place.run().tool_calls == 0
    assert results_in(place.asked[1])[0]["is_error"]


def test_a_bug_in_a_tool_ends_the_run_with_what_it_cost() -> None:
    """The SDK would have told it to the model and gone on."""

    def broken(query: Query) -> str:
        raise ZeroDivisionError(query.query)

    with playing(look(), FINAL) as server:
        error = bench(server).fail(tool=broken)
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert error.usage.output_tokens > 0
    assert len(server.requests) == 1


@each_row(
    "queries, ran",
    [
        (["same", "same", "same"], 2),
        (["a", "b", "a", "b"], 3),
        (["a", "b", "c", "a", "b", "c"], 5),
    ],
)
def test_a_run_in_circles_is_made_to_answer(queries: list[str], ran: int) -> None:
    """Once, not streamed, without tools; the call that closed the circle is not made."""
    forced = Turn(answer={"text": "forced"}, calls=(Call(name="look", input={"query": "z"}),))
    with playing(*map(look, queries), forced) as server:
        place = bench(server)
        result = place.run()
    assert result.convergence_forced
    assert result.answer == Answer(text="forced")
    assert len(place.calls) == ran
    last = place.asked[-1]
    assert not last.get("stream")
    assert last["tool_choice"] == {"type": "none"}
    assert [block["type"] for block in last["messages"][-1]["content"]] == ["tool_result", "text"]


def test_turns_are_limited() -> None:
    """After the last one the answer is forced, with its tool results in hand."""
    forced = Turn(answer={"text": "forced"})
    with playing(look("a"), look("b"), look("c"), forced) as server:
        place = bench(server)
        result = place.run(limits={"max_turns": 3})
    assert (result.convergence_forced, result.turns, place.calls) == (True, 4, ["a", "b", "c"])


def test_progress_is_no_circle() -> None:
    """Other lines of the same file, another word: all different questions."""
    with playing(*[look(f"word {number}") for number in range(8)], FINAL) as server:
        assert not bench(server).run().convergence_forced


def test_progress_is_shown_at_most_every_three_seconds(tmp_path: Path) -> None:
    """By the clock that is handed in: here each look at it is half a second later."""
    ticks = iter(number / 2 for number in range(10_000))
    seen: list[RunProgress] = []
    with playing(look(thinking="one two three " * 40), Turn(answer={"text": "x" * 700})) as server:
        limits = {"total_s": None, "stall_s": None}
        bench(server, monotonic=lambda: next(ticks)).run(folder=tmp_path, on_progress=seen.append, limits=limits)
    logged = [line for line in (tmp_path / "run.log").read_text().splitlines() if " thinking: " in line]
    thoughts = [progress.thinking for progress in seen if progress.thinking]
    assert len(thoughts) == len(logged) > 3
    assert seen[-1].tool_calls == 1
    assert "one two three" in thoughts[1]
    assert all(len(thought) <= 120 for thought in thoughts)
    assert [progress.call for progress in seen if progress.call] == ['look {"query": "retry limit"}']


def test_a_watcher_that_fails_does_not_end_the_run() -> None:
    """Slack may be down; the investigation is not."""

    def down(progress: RunProgress) -> None:
        raise ProviderError("Slack is down")

    with playing(look(thinking="well"), FINAL) as server:
        assert bench(server).run(on_progress=down).turns == 2


def test_the_record_is_written_as_it_happens_and_holds_no_secret(tmp_path: Path) -> None:
    """The key of the client, values handed in, and what looks like a credential are cut out of every file."""
    talk = Turn(thinking=f"I saw {KEY} and hunter2hunter2.", calls=(Call(name="look", input={"query": KEY}),))
    seen: list[RunProgress] = []
    with playing(talk, FINAL) as server:
        place = bench(server, secrets=["hunter2hunter2"])
        place.run(folder=tmp_path, tool=lambda _: f"key={KEY}", on_progress=seen.append)
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert KEY not in written
    assert "hunter2hunter2" not in written
    assert KEY not in str(seen)
    assert "## Turn 2 (end_turn)" in written
    assert "tool: look" in (tmp_path / "run.log").read_text()


def test_a_preview_never_shows_the_first_half_of_a_secret(tmp_path: Path) -> None:
    """Words arrive in pieces, and a piece of a key is not recognised as one: the last word waits for its end."""
    ticks = iter(range(0, 100_000, 4))
    talk = Turn(answer={"text": f"now {KEY} then"}, chunk_chars=1)
    with playing(talk) as server:
        limits = {"total_s": None, "stall_s": None}
        bench(server, monotonic=lambda: float(next(ticks))).run(folder=tmp_path, limits=limits)
    assert "[redacted" in (tmp_path / "run.log").read_text()
    assert KEY[:6] not in (tmp_path / "run.log").read_text()


def test_a_failed_run_leaves_its_record(tmp_path: Path) -> None:
    """The last line says how it ended."""
    with playing(look(), Turn(text="No.", stop="refusal")) as server:
        bench(server).fail(folder=tmp_path)
    assert "ended: the model declined" in (tmp_path / "run.log").read_text().splitlines()[-1]


def test_a_record_that_cannot_be_written_does_not_end_the_run(tmp_path: Path) -> None:
    """The folder is gone."""
    with playing(look(), FINAL) as server:
        assert bench(server).run(folder=tmp_path / "gone").turns == 2


def test_runs_of_two_question_types_share_what_the_cache_holds() -> None:
    """System prompt and tools come first, with a mark of their own; the rubric stands behind it."""
    system = "You test. " * 400
    with playing(look(), FINAL.model_copy(update={"usage": {}})) as server:
        place = bench(server)
        for rubric in ("# Rubric\n\nstatus", "# Rubric\n\ntechnical"):
            place.run(system=system, rubric=rubric)
    first, _, second, _ = place.asked
    shared = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
    assert first["system"][0] == second["system"][0] == shared
    assert first["tools"] == second["tools"]
    assert first["system"][1] != second["system"][1]
    assert server.requests[0]["usage"]["cache_read_input_tokens"] == 0
    assert server.requests[2]["usage"]["cache_read_input_tokens"] >= len(system) // 4


def test_each_turn_reads_the_turn_before_it_from_the_cache() -> None:
    """The end of the history is marked anew in every request."""
    with playing(look(), FINAL.model_copy(update={"usage": {}})) as server:
        bench(server).run(rubric="rubric " * 200)
    before, after = server.requests
    written = before["usage"]["cache_read_input_tokens"] + before["usage"]["cache_creation_input_tokens"]
    assert after["usage"]["cache_read_input_tokens"] == written > 0


def test_a_retry_sends_the_same_bytes() -> None:
    """Else it would miss the cache."""
    with playing(look(), Turn(text="half", cut="end"), FINAL) as server:
        place = bench(server)
        place.run()
    assert place.asked[1] == place.asked[2]


def test_runs_at_once_share_nothing() -> None:
    """Each one gets its own turns, tool results, counts and cost, on one client."""
    parts = tuple(
        Part(when=f"run {number}[?]", turns=(*[look(f"{number}-{turn}", drip_ms=3) for turn in range(number)],
                                             Turn(answer={"text": f"answer {number}"}, drip_ms=3)))
        for number in range(1, 7)
    )  # fmt: skip
    with ModelServer(Script(roles={"any": Role(match="", parts=parts)})) as server, ThreadPoolExecutor(6) as pool:
        place = bench(server)
        results = list(pool.map(lambda number: place.run(prompt=f"run {number}?"), range(1, 7)))
    for number, result in enumerate(results, start=1):
        assert (result.answer, result.tool_calls) == (Answer(text=f"answer {number}"), number)
    assert sorted(place.calls) == sorted(f"{number}-{turn}" for number in range(1, 7) for turn in range(number))


def test_every_call_is_numbered_and_kept_as_it_is_shown() -> None:
    """The numbers go on over failures, whatever ends the lines; a failed call proves nothing."""

    def answer(query: Query) -> str:
        if query.query == "away":
            raise ProviderError("git is away")
        return "one\r\ntwo\n"

    ledger = Ledger()
    with playing(look("a"), look("away"), look("b"), FINAL) as server:
        place = bench(server)
        place.run(tool=answer, ledger=ledger)
    shown = [body["messages"][-1]["content"][0]["content"] for body in place.asked[1:]]
    assert shown == [
        "call 1, lines are cited as 1:start-end\n1: one\n2: two",
        "look failed; narrow the call or use another tool",
        "call 3, lines are cited as 3:start-end\n1: one\n2: two",
    ]
    assert [(one.call, one.query, one.is_answered) for one in ledger.queries] == [
        (1, '{"query":"a"}', True),
        (2, 'failed: {"query":"away"}', False),
        (3, '{"query":"b"}', True),
    ]
