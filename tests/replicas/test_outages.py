"""What happens to replicas when one of them, or the database, does not answer for a while."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.postgres import cut_connections, driver
from tests.replicas.database_proxy import DatabaseProxy
from tests.replicas.fleet import Fleet

pytestmark = pytest.mark.full

LIMIT_S = 180.0


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


def answered_once(fleet: Fleet, control: Control, ts: str) -> None:
    """Approve a draft once it waits; one card and one reply stand in the end."""
    control.wait_for(lambda: fleet.can_approve(ts), "a draft", timeout_s=LIMIT_S)
    fleet.click(fleet.cards(ts)[0], ids.APPROVE)
    control.wait_for(lambda: fleet.replies(ts), "the reply", timeout_s=LIMIT_S)
    control.wait_for(lambda: fleet.has_one_of_each(ts), "one card and one reply")


def test_a_replica_that_was_paused_past_its_leases_does_nothing_again(fleet: Fleet, control: Control) -> None:
    """Stopped like a machine that hangs, it finds on waking that the other has its duties and its jobs."""
    fleet.start(1, 2)
    holder = fleet.duty_holder()
    other = 3 - holder
    first = fleet.ask(SESSIONS, CHLOE.user_id)
    fleet.running[holder].send_signal(signal.SIGSTOP)
    try:
        control.wait_for(lambda: fleet.holder_of("duty.questions") == other, "a takeover", timeout_s=LIMIT_S)
        answered_once(fleet, control, first)
    finally:
        fleet.running[holder].send_signal(signal.SIGCONT)
    control.wait_for(lambda: "another process took over duty.questions" in fleet.log(holder), "it to notice")
    second = fleet.ask(RETRIES, CHLOE.user_id)
    answered_once(fleet, control, second)
    assert fleet.has_one_of_each(first)


def test_an_orderly_stop_leaves_its_duties_at_once(fleet: Fleet, control: Control) -> None:
    """A rolling upgrade keeps nobody waiting for a lease to run out."""
    fleet.start(1, 2)
    holder = fleet.duty_holder()
    pid = fleet.running[holder].pid
    fleet.kill(holder, signal.SIGTERM)
    assert fleet.pid_of_holder("duty.questions") != pid
    control.wait_for(lambda: fleet.holder_of("duty.questions") == 3 - holder, "a takeover")
    answered_once(fleet, control, fleet.ask(SESSIONS, CHLOE.user_id))


def test_connections_that_are_cut_lose_nothing(fleet: Fleet, control: Control) -> None:
    """Again and again, while people ask and approve."""
    fleet.start(1, 2)
    asked = []
    for question in (SESSIONS, RETRIES, TIMEOUTS):
        cut_connections(fleet.url)
        asked.append(fleet.ask(question, CHLOE.user_id))
        cut_connections(fleet.url)
    for ts in asked:
        answered_once(fleet, control, ts)


def test_a_database_that_refuses_for_a_while_is_waited_for(fleet: Fleet, control: Control) -> None:
    """Nobody can connect; what is asked meanwhile is read back from Slack, and the ops channel is told."""
    fleet.start(1, 2)
    with driver().connect(fleet.server_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {fleet.database} ALLOW_CONNECTIONS false")
        cut_connections_of(fleet)
        ts = fleet.ask(SESSIONS, CHLOE.user_id)
        control.wait_for(lambda: all("cannot be used now" in fleet.log(n) for n in (1, 2)), "both to notice")
        connection.execute(f"ALTER DATABASE {fleet.database} ALLOW_CONNECTIONS true")
    answered_once(fleet, control, ts)


def cut_connections_of(fleet: Fleet) -> None:
    """End every connection to the fleet's database, from beside it."""
    with driver().connect(fleet.server_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [fleet.database]
        )


def test_a_replica_that_is_cut_off_from_the_database_leaves_the_work_to_the_other(
    fleet: Fleet, control: Control
) -> None:
    """It still hears Slack; what it cannot store the other reads back, and what it posts late is refused."""
    proxy = DatabaseProxy(fleet.url)
    fleet.start(1, environment={"TRIAGE_DATABASE_URL": proxy.url})
    fleet.start(2)
    with proxy.cut_off():
        control.wait_for(lambda: fleet.holder_of("duty.questions") == 2, "a takeover", timeout_s=LIMIT_S)
        asked = [fleet.ask(question, CHLOE.user_id) for question in (SESSIONS, RETRIES)]
        control.wait_for(lambda: any(map(fleet.can_approve, asked)), "a draft of the other", timeout_s=LIMIT_S)
    for ts in asked:
        answered_once(fleet, control, ts)
