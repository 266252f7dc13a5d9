"""What becomes of a lease whose holder was killed, stopped or cut off."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bot.errors import ConfigError
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.postgres import new_namespace, shared_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import PostgresLease, PostgresLeases

LASTS_S = 1.0
HOLDER = """
import sys
from bot.adapters.storage.postgres.database import Database, LeaseLost
from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments
from bot.adapters.storage.postgres.postgres_leases import PostgresLeases
url, namespace, lasts_s = sys.argv[1:]
database = Database(url)
documents = PostgresDocuments(database, namespace)
lease = PostgresLeases(database, namespace, lasts_s=float(lasts_s)).take("briefs")
print("held", flush=True)
for number, _ in enumerate(sys.stdin):
    try:
        with lease.fenced():
            documents.put("briefs", "briefs", {"by": "holder"}, version=number)
        print("written", flush=True)
    except LeaseLost as error:
        print("refused", flush=True)
"""


@pytest.fixture
def database() -> Database:
    """A database that processes of this test may open, too."""
    return shared_database()


@contextmanager
def holder(database: Database, namespace: str, lasts_s: float = LASTS_S) -> Iterator[ForkedProcess]:
    """Start a process that has taken a lease, and writes a document under it for each line it is sent."""
    with fork_server.lines("tests.program", HOLDER, database._url, namespace, str(lasts_s)) as process:
        assert said(process) == "held"
        yield process


def said(process: ForkedProcess) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def asked_to_write(process: ForkedProcess) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def leases_of(database: Database, namespace: str) -> PostgresLeases:
    from bot.adapters.storage.postgres.postgres_leases import PostgresLeases

    return PostgresLeases(database, namespace, lasts_s=LASTS_S)


def taken_over(leases: PostgresLeases) -> PostgresLease:
    """Take the lease as soon as it is free."""
    while True:
        try:
            return leases.take("briefs")
        except ConfigError:
            time.sleep(0.05)


def test_a_killed_holder_is_replaced_when_its_lease_has_expired(database: Database) -> None:
    """Until then the others are told which process has it."""
    namespace = new_namespace()
    leases = leases_of(database, namespace)
    with holder(database, namespace, lasts_s=600) as process:
        assert leases.holder("briefs") == str(process.pid)
        with pytest.raises(ConfigError, match=f"process {process.pid}"):
            leases.take("briefs")
        process.kill()
        process.wait()
        with database.writing() as connection:
            connection.execute("UPDATE triage_leases SET expires_at = now() WHERE namespace = %s", [namespace])
        taken_over(leases).release()


def test_a_lease_is_kept_for_as_long_as_its_holder_lives(database: Database) -> None:
    """It is renewed, again and again."""
    namespace, ends = new_namespace(), set()
    with holder(database, namespace):
        while len(ends) < 4:
            with database.reading() as connection:
                ends.add(
                    connection.execute(
                        "SELECT expires_at FROM triage_leases WHERE namespace = %s", [namespace]
                    ).fetchone()
                )
            time.sleep(0.05)


def test_what_a_paused_holder_writes_late_is_refused(database: Database) -> None:
    """It cannot know that it was paused; the one that took over meanwhile writes as it likes."""
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    namespace = new_namespace()
    documents = PostgresDocuments(database, namespace)
    with holder(database, namespace) as process:
        asked_to_write(process)
        assert said(process) == "written"
        process.send_signal(signal.SIGSTOP)
        asked_to_write(process)
        lease = taken_over(leases_of(database, namespace))
        process.send_signal(signal.SIGCONT)
        assert said(process) == "refused"
        found = documents.get("briefs", "briefs")
        assert found is not None
        assert found.version == 1
        with lease.fenced():
            documents.put("briefs", "briefs", {"by": "successor"}, version=1)
        lease.release()


def test_a_paused_holder_that_nobody_replaced_goes_on(database: Database) -> None:
    """Its token is the last one still."""
    namespace = new_namespace()
    with holder(database, namespace) as process:
        process.send_signal(signal.SIGSTOP)
        while leases_of(database, namespace).holder("briefs") is not None:
            time.sleep(0.05)
        process.send_signal(signal.SIGCONT)
        asked_to_write(process)
        assert said(process) == "written"


def test_a_released_lease_lets_no_more_writes_through(database: Database) -> None:
    """Whoever releases too early is told, even before another takes it."""
    from bot.adapters.storage.postgres.database import LeaseLost
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    namespace = new_namespace()
    lease = leases_of(database, namespace).take("briefs")
    lease.release()
    with pytest.raises(LeaseLost, match="'briefs'"), lease.fenced():
        PostgresDocuments(database, namespace).put("briefs", "briefs", {}, version=0)


def test_a_successor_waits_for_a_write_under_way(database: Database) -> None:
    """So that no write of the old holder is committed after the new one has begun."""
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    namespace = new_namespace()
    documents = PostgresDocuments(database, namespace)
    lease = leases_of(database, namespace).take("briefs")
    with lease.fenced(), database.transaction(), database.connect() as successor:
        documents.put("briefs", "briefs", {"by": "holder"}, version=0)
        successor.execute("SET lock_timeout = '100ms'")
        with pytest.raises(Exception, match="lock timeout"):
            successor.execute("UPDATE triage_leases SET token = token + 1 WHERE namespace = %s", [namespace])
    assert documents.get("briefs", "briefs") is not None
    lease.release()
