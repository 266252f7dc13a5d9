"""Killed at every named step of a thread's life, started again, and nothing is lost or said twice.

`make test-full` meets every step; `make test` a sample of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.crashes.life import Life
from tests.crashes.steps import CARD_POSTED, POSTED, STEPS, Step, met
from tests.journeys.shop import SESSIONS

SAMPLE = ("card posted, not answered", "before the reply log")
AT_ONCE = [step for step in STEPS if not step.is_between]
CHOSEN = met(STEPS, *SAMPLE) + met(AT_ONCE, "job removed", engine="postgres")

Record = Callable[[str, object], None]


def test_every_second_death_says_what_it_must_have_left() -> None:
    """One that comes too early or too late fails its test as well."""
    assert [step.name for step in STEPS if (step.then is not None) != bool(step.left_then)] == []


@pytest.mark.parametrize(("engine", "step"), CHOSEN)
def test_a_bot_killed_at_any_step_loses_nothing_and_says_nothing_twice(
    life: Life, engine: str, step: Step, record_property: Record
) -> None:
    """After the restart: one card, one decision, one reply and one record of it, one file in the archive."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.ask(SESSIONS)
    life.dies(step.name, decision=step.decision)
    assert {name: life.left()[name] for name in step.left} == step.left
    if step.then is not None:
        life.start(step.then)
        life.dies(step.name, decision=step.decision)
        assert {name: life.left()[name] for name in step.left_then} == step.left_then
    life.start()
    decision = "approve" if step.decision == "none" else step.decision
    life.carry_on_to_the_end(decision=decision)


@pytest.mark.full
def test_a_reply_that_was_still_on_its_way_when_the_bot_died_is_not_posted_twice(life: Life) -> None:
    """The next start looks before it has arrived, waits, and adopts it; nobody clicks again."""
    life.start()
    life.ask(SESSIONS)
    life.dies_with_a_call_under_way(POSTED)
    life.carry_on(lambda: life.is_dead, "the bot to die in its post", decision="approve")
    life.start_again()
    assert (life.left()["intent"], life.left()["replies"]) == (True, 0)
    life.proxy.release()
    life.carry_on(life.is_settled, "the reply to be adopted", decision="none")
    life.stop()
    life.ended_well("approve")


@pytest.mark.full
def test_a_reply_that_slack_takes_forty_seconds_after_the_click_is_not_posted_twice(life: Life) -> None:
    """The bot is killed meanwhile, and the next start waits for it longer than for a post that it can ask about."""
    life.start()
    life.ask(SESSIONS)
    life.dies_with_a_call_under_way(POSTED)
    life.carry_on(lambda: life.is_dead, "the bot to die in its post", decision="approve")
    until = time.monotonic() + 40
    life.start_again()
    life.carry_on(lambda: time.monotonic() > until, "forty seconds to pass", decision="none")
    assert (life.left()["intent"], life.left()["replies"]) == (True, 0)
    life.proxy.release()
    life.carry_on(life.is_settled, "the reply to be adopted", decision="none")
    life.stop()
    life.ended_well("approve")


@pytest.mark.full
def test_a_card_that_was_still_on_its_way_when_the_bot_died_is_not_posted_twice(life: Life) -> None:
    """The next start looks before it has arrived, waits, and adopts it."""
    life.start()
    life.dies_with_a_call_under_way(CARD_POSTED)
    life.ask(SESSIONS)
    life.carry_on(lambda: life.is_dead, "the bot to die in its post", decision="none")
    life.start_again()
    life.carry_on(lambda: "may still be on its way" in life.log, "the bot to have looked in vain", decision="none")
    assert life.left()["cards"] == 0
    life.proxy.release()
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.stop()
    life.ended_well("approve")
