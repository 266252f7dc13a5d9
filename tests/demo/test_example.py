"""The script that plays the models: a turn for each conversation that the demo has."""

from __future__ import annotations

from typing import Any

from demo.example import QUESTIONS, turn_for
from tests.tables import each_row


def asked(role: str, first: str, *turns: dict[str, Any]) -> dict[str, Any]:
    """Return a request as the bot sends it."""
    said = [{"role": "assistant", "content": [turn]} for turn in turns]
    return {"system": [{"type": "text", "text": role}], "messages": [{"role": "user", "content": first}, *said]}


@each_row("question", QUESTIONS)
def test_every_question_is_investigated_and_every_draft_says_that_a_script_wrote_it(question: str) -> None:
    """First with tools; who may call none any more gets the draft at once."""
    body = asked("You investigate", f'<data-1 name="question" from="U1">\n{question}\n</data-1>')
    assert turn_for(body)["calls"]
    final = turn_for({**body, "tool_choice": {"type": "none"}})
    assert "no model" in final["answer"]["claims"][-1]["text"]
