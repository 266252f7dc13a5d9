"""What is sent back of a reply: only what the API takes, though it sends other things itself."""

from __future__ import annotations

from tests.agent.modelrun import FINAL, bench, look, playing
from tests.model_server.script import Call, Turn
from tests.tables import each_row


@each_row("blank", ["", " ", "\n\n\t"])
def test_blank_texts_beside_a_call_are_not_sent_back(blank: str) -> None:
    """The API answers 400 to a history that holds one, and sends them itself."""
    with playing(look(blanks=(blank,)), FINAL) as server:
        assert bench(server).run().turns == 2
    sent = server.requests[-1]["body"]["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["tool_use"]


@each_row("turn", [Turn(thinking="hm"), Turn(blanks=("",)), Turn(thinking="hm", blanks=(" ",))])
def test_a_reply_that_says_nothing_is_asked_about_and_not_sent_back(turn: Turn) -> None:
    """Thinking alone, or nothing at all: the answer is asked for once more."""
    with playing(turn, FINAL) as server:
        assert bench(server).run().answer.text == "done"  # type: ignore[attr-defined]
    roles = [message["role"] for message in server.requests[-1]["body"]["messages"]]
    assert roles == ["user"]


def test_thinking_before_a_call_is_kept() -> None:
    """The API wants it back with the call it led to."""
    with playing(look(thinking="where?"), FINAL) as server:
        bench(server).run()
    sent = server.requests[-1]["body"]["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "tool_use"]


@each_row("given", [["a"], "a", 3, None])
def test_arguments_that_are_no_object_are_refused_to_the_model_and_sent_back_as_one(given: object) -> None:
    """The model is told what is wrong with its call; the tool is not called."""
    with playing(Turn(calls=(Call(name="look", input=given),)), FINAL) as server:
        place = bench(server)
        assert place.run().answer.text == "done"  # type: ignore[attr-defined]
    assert place.calls == []
    call, result = server.requests[-1]["body"]["messages"][1:]
    assert call["content"][0]["input"] == {}
    assert result["content"][0]["is_error"] is True


def test_a_cut_reply_of_thinking_alone_leaves_the_question_in_place() -> None:
    """What is dropped is the reply, never the message before it."""
    with playing(Turn(thinking="long " * 30, stop="max_tokens"), FINAL) as server:
        assert bench(server).run().convergence_forced
    assert "why?" in str(server.requests[-1]["body"]["messages"][0])
