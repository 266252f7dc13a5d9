"""Killed inside the operations of a thread's life, before each effect of each: between two files, before a commit.

Effects are counted and not named (tests/crashes/effects.py), so it is the same suite over any engine. It goes on until
the operation ends with no effect left. A line torn by a loss of power is the matter of tests/crashes/test_disk.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from demo.slack_server import LocalSlack
from tests.crashes.life import Life
from tests.crashes.moments import Moment, after, before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import (
    ARCHIVED,
    CARD_SAVED,
    CLAIMED,
    CLOSED,
    DONE,
    ENQUEUED,
    INTENT,
    JOURNAL,
    LOGGED,
    OPENED,
    QUEUE_OPENED,
    SORTED,
    met,
)
from tests.crashes.victim import TOO_FEW
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import SESSIONS, SHOP
from tests.postgres import new_database
from tests.workspaces import empty

NewLife = Callable[[], Life]


class Operation(NamedTuple):
    """One operation; `first` is where the start before it dies."""

    name: str
    at: Moment
    first: Moment | None = None
    is_shared: bool = True
    """Whether a shared store has it as one of its own, and not as part of taking a message in."""


OPERATIONS: Final = (
    Operation("the question is journaled", before(JOURNAL)),
    Operation("the job is queued", before(ENQUEUED), is_shared=False),
    Operation("the record is sorted", before(SORTED), is_shared=False),
    Operation("the job is claimed", before(CLAIMED)),
    Operation("a dead process's job is returned", before(QUEUE_OPENED), first=after(CLAIMED)),
    Operation("the state is opened", before(OPENED)),
    Operation("the card's ts is saved", before(CARD_SAVED)),
    Operation("the job is removed", before(DONE)),
    Operation("the intent is saved", before(INTENT)),
    Operation("the reply is logged", before(LOGGED)),
    Operation("the thread is closed", before(CLOSED)),
    Operation("the thread is archived", before(ARCHIVED)),
    Operation("the acknowledgement is forgotten", before("remove acknowledgements ")),
)
OWN_OPERATIONS: Final = [operation for operation in OPERATIONS if operation.is_shared]


@pytest.fixture
def new_life(slack: LocalSlack, control: Control, tmp_path: Path, engine: str) -> Iterator[NewLife]:
    """A maker of lives that begin with nothing, each after the end of the one before."""
    shop, lives, numbers = make_repo(tmp_path / "shop", SHOP), list[Life](), count()
    with withholding_proxy(slack.api_url) as proxy:

        def make() -> Life:
            for life in lives:
                life.close()
            empty(control)
            folder = tmp_path / str(next(numbers))
            database = None if engine == "files" else new_database()
            config = write_config(folder / "home", shop)
            lives[:] = [Life(slack, control, proxy, config, log=folder / "bot.log", database=database)]
            return lives[0]

        yield make
        for life in lives:
            life.close()


@pytest.mark.parametrize(("engine", "operation"), met(OPERATIONS) + met(OWN_OPERATIONS, engine="postgres"))
def test_a_bot_killed_inside_an_operation_loses_nothing_and_says_nothing_twice(
    new_life: NewLife, engine: str, operation: Operation, record_property: Callable[[str, object], None]
) -> None:
    """Before each of its effects: it is carried out, or it is not; the next start goes on from either."""
    record_property("crash_step", f"{engine}, inside: {operation.name}")
    deaths = next(done for done in count() if not _dies_inside(new_life(), operation, done + 1))
    record_property("crash_step", f"{engine}, inside: {operation.name} (deaths: {deaths})")
    assert deaths


def _dies_inside(life: Life, operation: Operation, effect: int) -> bool:
    """Kill a new bot before an effect, and let the next one go on; False where the operation has no such effect."""
    life.start(operation.first or operation.at.inside(effect))
    life.ask(SESSIONS)
    if operation.first is not None:
        life.dies(operation.name, decision="approve")
        life.start(operation.at.inside(effect))
    life.carry_on(lambda: life.is_dead, f"{operation.name}, which was never reached", decision="approve")
    assert life.process is not None
    if life.process.returncode == TOO_FEW:
        return False
    life.dies(operation.name, decision="approve")
    life.start()
    life.carry_on_to_the_end(decision="approve")
    return True
