"""A server of the test's own under two replicas: killed and started again, or its disk is full."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, OPS
from tests.crashes.test_disk import mounted
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.shop import RETRIES, SESSIONS, SHOP
from tests.postgres import driver, patiently, started
from tests.replicas.fleet import Fleet
from tests.replicas.test_outages import answered_once

pytestmark = pytest.mark.full

DISK_BYTES = 200 * 1024 * 1024
"""An empty server takes 40 MiB."""

ALL = 1_000
"""More messages than any channel has here."""


@contextmanager
def a_fleet(slack: LocalSlack, control: Control, tmp_path: Path, url: str) -> Iterator[Fleet]:
    """Two replicas over a database; killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP), url=url)
    try:
        fleet.start(1, 2)
        yield fleet
    finally:
        fleet.end()


def test_a_server_that_dies_and_comes_back_loses_nothing(slack: LocalSlack, control: Control, tmp_path: Path) -> None:
    """Killed in the midst of work, it is down while people ask; each replica logs that once, and its end; one tells."""
    with tempfile.TemporaryDirectory() as folder:
        server = started(Path(folder) / "data")
        with a_fleet(slack, control, tmp_path, server.get_uri()) as fleet:
            before = fleet.ask(SESSIONS, CHLOE.user_id)
            process = server.get_postmaster_info().process
            os.kill(process.pid, signal.SIGQUIT)
            during = fleet.ask(RETRIES, CHLOE.user_id)
            control.wait_for(lambda: all("cannot be used now" in fleet.log(n) for n in (1, 2)), "both to notice")
            control.wait_for(lambda: not process.is_running() or process.status() == "zombie", "its end")
            patiently(server.ensure_postgres_running)
            for ts in (before, during):
                answered_once(fleet, control, ts)
            for said in ("The database cannot be used now", "The database can be used again"):
                control.wait_for(lambda said=said: all(said in fleet.log(n) for n in (1, 2)), said)
                assert [fleet.log(n).count(said) for n in (1, 2)] == [1, 1]
                told = partial(control.transcript, OPS.channel_id, last=ALL)
                control.wait_for(lambda said=said, told=told: said in told(), "the line")
                assert told().count(said) == 1
            assert "Traceback" not in fleet.log(1) + fleet.log(2)
        server.cleanup()


def test_a_frozen_server_is_noticed_and_told_once_also_where_the_teller_dies(
    slack: LocalSlack, control: Control, tmp_path: Path
) -> None:
    """It keeps every connection and answers nothing; the replica with the duties is killed before it notices."""
    with tempfile.TemporaryDirectory() as folder:
        server = started(Path(folder) / "data")
        with a_fleet(slack, control, tmp_path, server.get_uri()) as fleet:
            before = fleet.ask(SESSIONS, CHLOE.user_id)
            fleet.draft(before)
            holder = fleet.duty_holder()
            postmaster = server.get_postmaster_info().process
            processes = [postmaster, *postmaster.children(recursive=True)]
            for process in processes:
                process.suspend()
            try:
                fleet.kill(holder)
                told = partial(control.transcript, OPS.channel_id, last=ALL)
                away, back = "The database cannot be used now", "The database can be used again"
                control.wait_for(lambda: away in fleet.log(3 - holder), "the other to notice")
                control.wait_for(lambda: away in told(), "it to tell", timeout_s=120)
            finally:
                for process in processes:
                    process.resume()
            control.wait_for(lambda: back in told(), "the end", timeout_s=120)
            answered_once(fleet, control, before)
            assert [told().count(away), told().count(back)] == [1, 1]
        server.cleanup()


def test_a_start_without_the_database_waits_until_it_answers(
    slack: LocalSlack, control: Control, tmp_path: Path
) -> None:
    """It ends neither at once nor in a loop: the ops channel hears why, once, and it starts by itself."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as beside:
        server = started(Path(folder) / "data")
        process, url = server.get_postmaster_info().process, server.get_uri()
        os.kill(process.pid, signal.SIGQUIT)
        control.wait_for(lambda: not process.is_running() or process.status() == "zombie", "its end")
        fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP), url=url)
        starting = beside.submit(fleet.start, 1)
        why = "triage cannot start yet: the database cannot be reached"
        control.wait_for(lambda: why in control.transcript(OPS.channel_id), "the ops channel to be told")
        patiently(server.ensure_postgres_running)
        starting.result()
        assert [control.transcript(OPS.channel_id).count(why), fleet.log(1).count(why)] == [1, 1]
        fleet.end()
        server.cleanup()


def test_a_full_disk_of_the_server_holds_work_up_and_loses_none(
    slack: LocalSlack, control: Control, tmp_path: Path
) -> None:
    """A question and a click come meanwhile; people are told, and with room again both are done, once."""
    with tempfile.TemporaryDirectory() as folder, mounted(Path(folder) / "disk", DISK_BYTES) as disk:
        server = started(disk.path / "data")
        with driver().connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET max_wal_size = '64MB'")
        with a_fleet(slack, control, tmp_path, server.get_uri()) as fleet:
            before = fleet.ask(SESSIONS, CHLOE.user_id)
            fleet.draft(before)
            disk.fill()
            during = [
                fleet.ask(f"{RETRIES} {number}\n```{os.urandom(8_000).hex()}```", CHLOE.user_id) for number in range(8)
            ]
            control.wait_for(lambda: "database cannot be used now" in control.transcript(OPS.channel_id), "the line")
            disk.free()
            patiently(server.ensure_postgres_running)
            control.wait_for(lambda: "can be used again" in control.transcript(OPS.channel_id), "the end of it")
            for ts in (before, *during):
                answered_once(fleet, control, ts)
        server.cleanup()
