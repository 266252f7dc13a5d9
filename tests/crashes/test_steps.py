"""Killed at every named step of a thread's life, started again, and nothing is lost or said twice.

`make test-full` meets every step; `make test` a sample of them.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demo.control import Control
from demo.slack_server import LocalSlack
from tests.crashes.life import OWN_WORDS, Life
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import CARD_POSTED, DATABASE_STEPS, POSTED, STEPS, Step, met
from tests.gitrepo import make_repo
from tests.journeys.office import write_config
from tests.journeys.shop import SESSIONS, SHOP
from tests.replicas.database_proxy import DatabaseProxy

SAMPLE = ("card posted, not answered", "posted, id not saved")
CHOSEN = met(STEPS, *SAMPLE) + met(DATABASE_STEPS, engine="postgres")

Record = Callable[[str, object], None]


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, database: DatabaseProxy | None) -> Iterator[Life]:
    """A fresh home and a small codebase, behind the proxy."""
    config = write_config(tmp_path / "home", make_repo(tmp_path / "shop", SHOP))
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config, database=database)
        yield life
        life.close()


@pytest.mark.parametrize(("engine", "step"), CHOSEN)
def test_a_bot_killed_at_any_step_loses_nothing_and_says_nothing_twice(
    life: Life, engine: str, step: Step, record_property: Record
) -> None:
    """After the restart: one card, one decision, one reply and one record of it, one file in the archive."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.ask(SESSIONS)
    _die(life, step)
    assert {name: life.left()[name] for name in step.left} == step.left
    if step.then is not None:
        life.start(step.then)
        _die(life, step)
    life.start()
    decision = "approve" if step.decision == "none" else step.decision
    life.carry_on(
        lambda: life.is_settled() and not life.kept.documents("acknowledgements"),
        "the thread to be settled, and its asker to be told",
        decision=decision,
    )
    life.stop()
    _ended_well(life, decision)


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
    _ended_well(life, "approve")


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
    _ended_well(life, "approve")


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
    _ended_well(life, "approve")


def _die(life: Life, step: Step) -> None:
    life.carry_on(lambda: life.is_dead, f"the step {step.name!r}, which was never reached", decision=step.decision)
    assert life.process is not None
    assert life.process.returncode == -signal.SIGKILL, life.log


def _ended_well(life: Life, decision: str) -> None:
    posted = 0 if decision == "dismiss" else 1
    left = life.left()
    assert (left["cards"], left["replies"], left["logged"], left["archived"]) == (1, posted, posted, 1)
    assert (left["events"], left["classified"], left["jobs"], left["corrupt"]) == (1, 1, 0, [])
    assert not life.kept.documents("threads")
    assert left["reactions"] == (["white_check_mark"] if posted else [])
    assert not life.kept.documents("acknowledgements")
    closed = life.archived()[0]
    resolution = {"approve": "approved", "edit": "edited", "dismiss": "dismissed"}[decision]
    assert (closed["resolution"], closed["rounds"][0]["round"], len(closed["rounds"])) == (resolution, 1, 1)
    if decision == "edit":
        assert life.replies()[0]["text"] == OWN_WORDS
    if posted:
        assert closed["posted_message_id"] == life.replies()[0]["ts"]
