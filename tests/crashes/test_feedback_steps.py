"""Killed at every named step of a vote, started again: it counts once, and the approvers are told once."""

from __future__ import annotations

from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element
from demo.workspace import CHLOE, HELP, OPS
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.steps import Step, met
from tests.hands import Json
from tests.journeys.shop import RETRIES

SAVED = r"put feedback \S+ .*"
VOTED, MEANT, TOLD = SAVED + '"is_helpful": false', SAVED + '"telling_at": "', SAVED + '"is_told": true'
STEPS = (
    Step(name="vote: before it is on file", kill=before(VOTED)),
    Step(name="vote: on file", kill=after(VOTED)),
    Step(name="vote: about to be told", kill=after(MEANT)),
    Step(name="vote: told, not answered", withheld=r"post .*triage_feedback:"),
    Step(name="vote: told, not on file", kill=before(TOLD)),
)
SAMPLE = ("vote: told, not answered",)


def press(life: Life) -> None:
    """Click Not helpful."""
    [reply] = life.replies()
    element = find_element(reply, ids.NOT_HELPFUL)
    assert element is not None
    life.control.click(HELP.channel_id, reply["ts"], CHLOE.user_id, **element.click_fields())


def votes(life: Life) -> list[Any]:
    """Return what is on file of votes."""
    return [one for one in life.kept.documents("feedback") if one["votes"]]


def told(life: Life) -> list[Json]:
    """Return what approvers were told."""
    messages = life.control.messages(OPS.channel_id)
    return [m for m in messages if any("triage_feedback:" in str(b.get("block_id")) for b in m.get("blocks") or [])]


@pytest.mark.parametrize(("engine", "step"), met(STEPS, *SAMPLE) + met(STEPS, engine="postgres"))
def test_a_vote_counts_once_and_is_told_once_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """Only a click that nobody wrote down has to be made again."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.ask(RETRIES)
    life.carry_on(life.is_settled, "the reply", decision="approve")
    press(life)
    life.dies(step.name, decision="none")
    life.start()
    if not votes(life):
        press(life)
    life.control.wait_for(lambda: [one for one in votes(life) if one["is_told"]], "the vote to be told")
    life.stop()
    [found] = votes(life)
    assert [one["is_helpful"] for one in found["votes"].values()] == [False]
    assert len(told(life)) == 1
    assert life.left()["corrupt"] == []
