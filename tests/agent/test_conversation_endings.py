"""How a reply may end, and what each ending leads to: nothing cut is used, nothing whole lost, all is paid for."""

from __future__ import annotations

from bot.agent.model_run import RunFailed
from tests.agent.modelrun import FINAL, bench, look, playing
from tests.model_server.script import Call, Turn
from tests.tables import each_row

USED = {"input_tokens": 100, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def test_a_stream_without_its_stop_event_is_asked_for_again_and_both_are_paid() -> None:
    """It looks finished, and is not: no error is raised by the connection itself."""
    with playing(Turn(answer={"text": "half"}, cut="end", usage=USED), FINAL) as server:
        result = bench(server).run()
    assert (result.answer.text, result.turns) == ("done", 1)  # type: ignore[attr-defined]
    assert result.usage.input_tokens == 110
    assert len(server.requests) == 2


def test_a_stream_cut_twice_fails_with_what_it_cost() -> None:
    """One retry, then a human."""
    with playing(Turn(text="half of it " * 20, cut="tcp", after_chunks=5, usage=USED)) as server:
        error = bench(server).fail(RunFailed)
    assert "cut off twice" in str(error)
    assert error.usage.input_tokens == 200
    assert error.usage.output_tokens >= 2 * 5 * 24 // 4, "the tokens that were seen are paid for"


def test_the_retry_of_one_request_does_not_use_up_that_of_the_next() -> None:
    """Each request has its own."""
    cut = Turn(text="half of it", cut="end")
    with playing(cut, look(), cut, FINAL) as server:
        assert bench(server).run().turns == 2


@each_row("stop", ["tool_use", None, "end_turn"])
def test_a_tool_call_cut_in_two_is_never_executed(stop: str | None) -> None:
    """Half its arguments may be valid JSON and mean something else: `rm /tmp` of `rm /tmp/x`."""
    half = Turn(calls=(Call(name="look", input={"query": "drop nothing at all"}, cut=20),), stop=stop)
    with playing(half, look("whole"), FINAL) as server:
        place = bench(server)
        place.run()
    assert place.calls == ["whole"]


def test_a_stream_cut_inside_a_tool_call_executes_nothing() -> None:
    """Nor the complete call that came before it in the same reply: the reply as a whole was not received."""
    two = (Call(name="look", input={"query": "a"}), Call(name="look", input={"query": "b" * 200}))
    with playing(Turn(calls=two, cut="end", after_chunks=3), FINAL) as server:
        place = bench(server)
        place.run()
    assert place.calls == []


@each_row("stop", [None, "end_turn"])
def test_a_terminator_without_content_does_not_erase_the_calls_before_it(stop: str | None) -> None:
    """The calls are whole, only the reason given for stopping does not mention them."""
    with playing(look("kept", stop=stop), FINAL) as server:
        place = bench(server)
        assert place.run().tool_calls == 1
    assert place.calls == ["kept"]
    assert [message["role"] for message in place.asked[1]["messages"]] == ["user", "assistant", "user"]


def test_an_empty_last_reply_loses_neither_the_tool_results_nor_the_answer() -> None:
    """An end without a word after tool calls: the answer is asked for once more, with all that was found."""
    with playing(look(), Turn(stop="end_turn"), FINAL) as server:
        place = bench(server)
        assert place.run().tool_calls == 1
    last = place.asked[-1]["messages"]
    assert [block["type"] for block in last[-1]["content"]] == ["tool_result", "text"]


@each_row("kind", ["overloaded_error", "api_error"])
def test_an_error_event_in_mid_stream_is_asked_again(kind: str) -> None:
    """The status was 200 long before; the SDK itself does not retry it."""
    with playing(Turn(text="well, " * 20, error=kind, usage=USED), FINAL) as server:
        assert bench(server).run().usage.input_tokens == 110


def test_an_error_event_that_blames_the_request_is_final() -> None:
    """Asking the same again would fail the same way."""
    with playing(Turn(text="well, " * 20, error="invalid_request_error"), FINAL) as server:
        assert "invalid" in str(bench(server).fail())
    assert len(server.requests) == 1


def test_a_refusal_goes_to_a_human() -> None:
    """Not retried, not parsed, paid for."""
    with playing(Turn(text="No.", stop="refusal", usage=USED)) as server:
        error = bench(server).fail()
    assert "declined" in str(error)
    assert error.usage.input_tokens == 100


def test_a_paused_turn_is_sent_back_and_goes_on() -> None:
    """The provider stopped in the middle of its own work; its words are part of the history."""
    with playing(Turn(text="Still at it.", stop="pause_turn"), FINAL) as server:
        place = bench(server)
        assert place.run().turns == 2
    assert place.asked[1]["messages"][-1]["content"][0]["text"] == "Still at it."


def test_an_answer_that_hits_its_length_limit_is_asked_for_again_briefer() -> None:
    """The cut reply is not shown to the model again; the finish is forced and says so."""
    with playing(Turn(text='{"text": "far too lo', stop="max_tokens", usage=USED), FINAL) as server:
        place = bench(server)
        result = place.run()
    assert result.convergence_forced
    assert result.usage.input_tokens == 110
    assert "be brief" in str(place.asked[1]["messages"][-1])
    assert "far too lo" not in str(place.asked[1])


def test_a_tool_call_at_the_length_limit_is_not_executed() -> None:
    """Its arguments may be cut even though its block is closed."""
    with playing(look("cut?", stop="max_tokens"), FINAL) as server:
        place = bench(server)
        place.run()
    assert place.calls == []


def test_a_full_context_window_ends_the_run_in_words() -> None:
    """There is no room for another turn."""
    with playing(look(), Turn(text="…", stop="model_context_window_exceeded")) as server:
        assert "outgrew" in str(bench(server).fail())


@each_row("text", ["I think it is in the parser.", '{"text": 5}', '{"words": "x"}', "", '{"text": "x"'])
def test_an_unreadable_answer_is_repaired_once(text: str) -> None:
    """The repair says what was wrong, is not streamed, and is paid for like every call."""
    with playing(Turn(text=text, usage=USED), FINAL) as server:
        place = bench(server)
        result = place.run()
    assert not result.convergence_forced
    assert result.usage.input_tokens == 110
    assert not place.asked[1].get("stream")
    assert "could not be read" in str(place.asked[1]["messages"][-1])


def test_a_reply_that_stops_for_tools_and_calls_none_is_an_answer() -> None:
    """There is nothing to run."""
    with playing(FINAL.model_copy(update={"stop": "tool_use"})) as server:
        assert bench(server).run().turns == 1


def test_an_answer_that_stays_unreadable_fails_with_what_it_cost() -> None:
    """Usage is never lost to a failed parse."""
    with playing(Turn(text="prose", usage=USED)) as server:
        error = bench(server).fail()
    assert error.usage.input_tokens == 200
    assert len(server.requests) == 2
