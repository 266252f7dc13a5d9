"""Killed at every named step of a question that comes into a thread whose draft waits: the draft is made anew once."""

from __future__ import annotations

from typing import Any

import pytest

from demo.workspace import BEN, HELP
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.steps import SAVED, Step, met
from tests.hands import Json
from tests.journeys.shop import SESSIONS

MORE = "and where is `backoff_delays` defined?"
ASKED = SAVED + r"asked more in the thread"
REMADE = SAVED + r'"status": "awaiting-validation".*asked more in the thread'
QUEUED = r"enqueue user \S+ \{\"thread_id\""
STEPS = (
    Step(name="follow-up: before it is on file", kill=before(ASKED), left={"status": "pending-user"}),
    Step(name="follow-up: on file, not queued", kill=after(ASKED), left={"status": "investigating"}),
    Step(name="follow-up: queued", kill=after(QUEUED), left={"status": "investigating"}),
    Step(name="follow-up: its run ended", kill=before(REMADE), left={}),
)
SAMPLE = ("follow-up: on file, not queued",)


def remade(life: Life) -> Json | None:
    """Return the thread once the draft that knows the follow-up waits."""
    found = life.kept.documents("threads")
    return next((one for one in found if one["status"] == "pending-user" and len(one["rounds"]) > 1), None)


@pytest.mark.parametrize(("engine", "step"), met(STEPS, *SAMPLE) + met(STEPS, engine="postgres"))
def test_a_follow_up_is_taken_into_one_run_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """Nobody has to ask again, and one reply is posted."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill)
    life.ask(SESSIONS)
    life.control.wait_for(life.offer, "the first draft")
    life.control.say(HELP.channel_id, BEN.user_id, MORE, life.ts)
    life.dies(step.name, decision="none")
    assert {name: life.left()[name] for name in step.left} == step.left
    life.start()
    state = life.control.wait_for(lambda: remade(life), "the draft to be made anew")
    assert [one["text"] for one in state["followups"]] == [MORE]
    assert len(state["rounds"]) == 2
    life.carry_on(life.is_settled, "the reply", decision="approve")
    life.stop()
    assert len(life.replies()) == 1
