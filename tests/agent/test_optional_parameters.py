"""Effort, thinking and the answer's schema: sent as the phase wants them, and left out where a model refuses them."""

from __future__ import annotations

from bot.agent.model_run import RunFailed
from tests.agent.modelrun import FINAL, bench, playing
from tests.model_server import ModelServer
from tests.model_server.script import Part, Role, Script, Turn
from tests.tables import each_row

NO_EFFORT = "This model does not support the effort parameter."
NO_THINKING = "adaptive thinking is not supported on this model"


def refuse(words: str) -> Turn:
    """Return the answer to a request that holds what the model does not know."""
    return Turn(status=400, error="invalid_request_error", message=words)


def test_a_phase_says_how_hard_the_model_works_and_whether_it_thinks() -> None:
    """Without an effort the model's own default counts."""
    with playing(FINAL) as server:
        place = bench(server)
        place.run()
        place.run(effort="low", thinks=False)
    usual, small = place.asked
    assert "effort" not in usual["output_config"]
    assert usual["thinking"]["type"] == "adaptive"
    assert small["output_config"]["effort"] == "low"
    assert small["thinking"] == {"type": "disabled"}


def test_what_a_model_refuses_is_left_out_and_not_sent_to_it_again() -> None:
    """One request each is lost, once for all runs; the answer's schema stays."""
    first = Part(when="first", turns=(refuse(NO_EFFORT), refuse(NO_THINKING), FINAL))
    script = Script(roles={"any": Role(match="", parts=(first, Part(turns=(FINAL,))))})
    with ModelServer(script) as server:
        place = bench(server)
        place.run(prompt="first?", effort="high", model="claude-haiku-4-5")
        place.run(prompt="next?", effort="high", model="claude-haiku-4-5")
        place.run(prompt="other?", effort="high", model="claude-opus-5-5")
    assert len(place.asked) == 5
    for body in place.asked[2:4]:
        assert "thinking" not in body
        assert set(body["output_config"]) == {"format"}
    assert place.asked[4]["output_config"]["effort"] == "high"


def test_a_model_that_refuses_not_to_think_may_still_be_asked_to() -> None:
    """What is refused is refused of one of the two."""
    turns = (refuse('"thinking.type.disabled" is not supported for this model.'), FINAL)
    script = Script(roles={"any": Role(match="", parts=(Part(when="small", turns=turns), Part(turns=(FINAL,))))})
    with ModelServer(script) as server:
        place = bench(server)
        place.run(prompt="small?", thinks=False)
        place.run(prompt="full?")
    assert ["thinking" in body for body in place.asked] == [True, False, True]


def test_a_server_that_knows_no_schema_is_told_it_in_words() -> None:
    """Other servers of the protocol lack structured output."""
    refusal = refuse("output_config: Extra inputs are not permitted")
    untold = Role(match=r"\AYou test\.\s*\Z", parts=(Part(turns=(refusal,)),))
    told = Role(match="one JSON object", parts=(Part(turns=(FINAL,)),))
    with ModelServer(Script(roles={"untold": untold, "told": told})) as server:
        place = bench(server)
        place.run(effort="high")
    assert "output_config" not in place.asked[1]
    assert '"text"' in place.asked[1]["system"][-1]["text"]


@each_row("words", ["messages: at least one message is required", NO_EFFORT])
def test_a_refusal_that_stays_ends_the_run(words: str) -> None:
    """Nothing is asked for ever: each parameter is left out once."""
    with playing(refuse(words)) as server:
        place = bench(server)
        error = place.fail(RunFailed)
    assert error.code == "invalid_request"
    assert len(place.asked) <= 2
