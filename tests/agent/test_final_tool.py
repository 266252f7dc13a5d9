"""A run that ends by a tool: a valid call is the answer, text is asked about once, a forced end goes through it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bot.agent.model_run import RunResult
from bot.agent.tools.base import Arguments, Tool
from tests.agent.modelrun import Answer, Bench, bench, look, playing
from tests.model_server.script import Call, Turn
from tests.tables import each_row


class Report(Arguments):
    """The arguments of `finish`."""

    text: str


FINISH = Tool(name="finish", description="Ends the run.", arguments=Report, call=lambda _: "taken")


def finish(*texts: Any, **turn: Any) -> Turn:
    """Return a turn that calls `finish`, with these texts."""
    return Turn(calls=tuple(Call(name="finish", input={"text": text}) for text in texts), **turn)


def said(text: str) -> BaseModel:
    return Answer(text=f"said: {text}")


def run(place: Bench, **changes: Any) -> RunResult:
    return place.run(final=FINISH, answer=Report, read=said, **changes)


def problems(body: dict[str, Any]) -> list[str]:
    """Return the error results in the last message of a request."""
    return [block["content"] for block in body["messages"][-1]["content"] if block.get("is_error")]


def test_a_valid_call_ends_the_run_and_is_the_answer() -> None:
    """Also beside other calls, which are made; no schema of an answer is sent."""
    both = Turn(calls=(Call(name="look", input={"query": "a"}), Call(name="finish", input={"text": "done"})))
    with playing(both) as server:
        place = bench(server)
        result = run(place)
    assert (result.answer, result.turns, result.convergence_forced) == (Report(text="done"), 1, False)
    assert place.calls == ["a"]
    assert "format" not in place.asked[0].get("output_config", {})
    assert [tool["name"] for tool in place.asked[0]["tools"]] == ["look", "finish"]


def test_an_invalid_call_is_answered_with_what_is_wrong() -> None:
    """And the run goes on."""
    with playing(finish(5), finish("done")) as server:
        place = bench(server)
        assert run(place).answer == Report(text="done")
    assert problems(place.asked[1]) == ["finish cannot be called like that: text: Input should be a valid string"]


def test_two_calls_that_differ_end_nothing() -> None:
    """Neither is taken; the same said twice is one answer."""
    with playing(finish("a", "b"), finish("c", "c")) as server:
        result = run(bench(server))
    assert (result.answer, result.turns) == (Report(text="c"), 2)


def test_a_run_that_ends_in_text_is_asked_once_for_the_call() -> None:
    """In the same conversation, its tools still at hand."""
    with playing(Turn(text="All well."), look("a"), finish("done")) as server:
        place = bench(server)
        result = run(place)
    assert (result.answer, result.convergence_forced) == (Report(text="done"), False)
    assert place.asked[1]["stream"]
    assert "`finish`" in place.asked[1]["messages"][-1]["content"][0]["text"]


@each_row("again, text", [("Quiet.", "said: Quiet."), ("", "said: All well.")])
def test_text_that_comes_again_stands(again: str, text: str) -> None:
    """An empty reply takes nothing back."""
    with playing(Turn(text="All well."), Turn(text=again)) as server:
        result = run(bench(server))
    assert (result.answer, result.turns) == (Answer(text=text), 2)


def test_nothing_said_at_all_is_no_answer() -> None:
    """It was asked for the call, and for it alone in the end."""
    with playing(Turn()) as server:
        place = bench(server)
        error = place.fail(final=FINISH, answer=Report, read=said)
    assert "without a valid call of finish" in str(error)
    assert [body.get("tool_choice") for body in place.asked] == [None, None, {"type": "tool", "name": "finish"}]


def test_a_run_in_circles_is_forced_through_the_tool() -> None:
    """Once, not streamed, and without thinking, which the API takes for a contradiction."""
    forced = Turn(calls=(Call(name="look", input={"query": "b"}), Call(name="finish", input={"text": "done"})))
    with playing(look("a"), look("a"), look("a"), forced) as server:
        place = bench(server)
        result = run(place)
    assert (result.answer, result.convergence_forced) == (Report(text="done"), True)
    last = place.asked[-1]
    assert (last.get("stream"), last["tool_choice"]) == (None, {"type": "tool", "name": "finish"})
    assert last["thinking"] == {"type": "disabled"}
    assert "by calling `finish`" in last["messages"][-1]["content"][-1]["text"]
    assert place.calls == ["a", "a"]


def test_a_run_out_of_turns_is_forced_through_the_tool() -> None:
    """Also where its last words were text."""
    with playing(look("a"), Turn(text="All well."), finish("done")) as server:
        result = run(bench(server), limits={"max_turns": 2})
    assert (result.answer, result.convergence_forced) == (Report(text="done"), True)


def test_a_forced_call_that_is_wrong_is_corrected_once() -> None:
    """What was wrong with it stands before the second request."""
    with playing(look("a"), finish(5), finish("done")) as server:
        place = bench(server)
        assert run(place, limits={"max_turns": 1}).answer == Report(text="done")
    assert len(problems(place.asked[-1])) == 1


@each_row(
    "turns, text",
    [
        ((look("a"), finish(5)), 'said: {"text": 5}'),
        ((finish(5), Turn(text="All well."), Turn(text="Quiet.")), 'said: {"text": 5}\nQuiet.'),
    ],
)
def test_a_call_that_stays_wrong_is_read_like_text(turns: tuple[Turn, ...], text: str) -> None:
    """With what was said beside it: what the model saw is not lost."""
    with playing(*turns) as server:
        assert run(bench(server), limits={"max_turns": 1} if len(turns) == 2 else {}).answer == Answer(text=text)


@each_row("stop, cut", [("max_tokens", None), ("tool_use", 5)])
def test_a_call_that_was_cut_off_is_never_taken(stop: str, cut: int | None) -> None:
    """Half a report may be a valid one that says something else."""
    half = Turn(calls=(Call(name="finish", input={"text": "half"}, cut=cut),), stop=stop)
    with playing(half, finish("whole")) as server:
        assert run(bench(server)).answer == Report(text="whole")


def test_a_forced_call_at_the_length_limit_is_not_taken() -> None:
    """The model is told to be brief."""
    with playing(look("a"), finish("half", stop="max_tokens"), finish("whole")) as server:
        place = bench(server)
        assert run(place, limits={"max_turns": 1}).answer == Report(text="whole")
    assert "be brief" in problems(place.asked[-1])[0]
