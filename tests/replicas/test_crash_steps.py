"""A replica dies just after any of its writes, before it knows of it; another brings the thread to its end, once.

Numbers of writes are drawn from the whole life of a thread.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from blocks import ids
from bot.errors import InputError, ProviderError
from demo.headless import find_element
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import SESSIONS, SHOP
from tests.replicas.database_proxy import DatabaseProxy
from tests.replicas.fleet import Fleet

pytestmark = pytest.mark.full

WRITES: Final = 90
"""About how many a replica makes from its start to the end of its first thread."""
DRAWN: Final = 6
LIMIT_S: Final = 120.0


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


@pytest.mark.parametrize("write", sorted(random.Random(DRAWN).sample(range(1, WRITES), DRAWN)))
def test_a_thread_ends_once_whichever_write_was_the_last(fleet: Fleet, control: Control, write: int) -> None:
    """The write is done, its writer is dead; a second replica finds it."""

    def die(number: int) -> None:
        if number == write:
            fleet.running[1].send_signal(signal.SIGKILL)

    fleet.start(0)
    fleet.kill(0, signal.SIGTERM)  # the tables are there, and the channel was watched before
    proxy = DatabaseProxy(fleet.url, die)
    fleet.start(1, environment={"TRIAGE_DATABASE_URL": proxy.url}, may_die=True)
    ts = fleet.ask(SESSIONS, CHLOE.user_id)
    clicked: set[str | None] = set()

    def is_over() -> bool:
        """Approve what is offered, once for each offer, until the first replica is dead or the reply stands."""
        card = next(iter(fleet.cards(ts)), None)
        button = find_element(card, ids.APPROVE) if card else None
        if button and button.value not in clicked:
            clicked.add(button.value)
            try:
                fleet.click(fleet.cards(ts)[0], ids.APPROVE)
            except (InputError, ProviderError, AssertionError):
                return False
        return bool(fleet.replies(ts)) or fleet.running[1].poll() is not None

    control.wait_for(is_over, "the reply, or the death", timeout_s=LIMIT_S)
    fleet.start(2)
    clicked.clear()
    control.wait_for(lambda: is_over() and fleet.replies(ts), "the reply", timeout_s=LIMIT_S)
    control.wait_for(lambda: not find_element(fleet.cards(ts)[0], ids.APPROVE), "a card that is closed")
    control.wait_for(lambda: fleet.has_one_of_each(ts), "one card and one reply")
    print(f"\nwrite {write} of {proxy.writes}: dead {fleet.running[1].poll() is not None}")
