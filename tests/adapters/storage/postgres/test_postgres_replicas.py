"""Each process notes itself; the others see when it was there last, by the database's clock."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bot.ports.replicas import SILENT, Role
from tests.postgres import new_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database


@pytest.fixture
def database() -> Database:
    """A database of its own: a replica is one of all its processes."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    return Database(url, max_connections=2)


def age(database: Database, hours: int) -> None:
    """Let all rows be as many hours older."""
    with database.writing() as connection:
        connection.execute("UPDATE triage_replicas SET seen_at = seen_at - make_interval(hours => %s)", [hours])


def test_a_sign_of_life_is_seen_by_the_others(database: Database) -> None:
    """Who, where, which release, what for; a second sign of life adds no row."""
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas

    one, other = PostgresReplicas(database), PostgresReplicas(database)
    for _ in range(2):
        one.beat("1.0.0", Role.WORK, timedelta())
    (seen,) = other.list()
    assert (seen.host, seen.pid, seen.version, seen.role) == (socket.gethostname(), os.getpid(), "1.0.0", "work")
    assert seen.is_alive
    assert seen.clock_ahead == timedelta()
    assert f"process {os.getpid()} on {socket.gethostname()}: triage 1.0.0, role work" in seen.line


def test_who_was_killed_is_shown_for_a_day(database: Database) -> None:
    """As silent; then whoever lives removes it. Who stops in order is gone at once."""
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas

    PostgresReplicas(database).beat("1.0.0", Role.ALL, timedelta())
    age(database, 23)
    alive = PostgresReplicas(database)
    alive.beat("1.0.0", Role.ALL, timedelta())
    silent, living = sorted(alive.list(), key=lambda replica: replica.is_alive)
    assert silent.silent_for > SILENT
    assert "no sign of life for 23 h" in silent.line
    assert living.is_alive
    age(database, 2)
    alive.beat("1.0.0", Role.ALL, timedelta())
    assert [replica.is_alive for replica in alive.list()] == [True]
    alive.leave()
    assert alive.list() == []


def test_a_replica_that_others_forgot_is_there_again(database: Database) -> None:
    """It was paused for a day and goes on."""
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas

    paused, other = PostgresReplicas(database), PostgresReplicas(database)
    paused.beat("1.0.0", Role.ALL, timedelta())
    age(database, 25)
    other.beat("1.0.0", Role.ALL, timedelta())
    paused.beat("1.0.0", Role.ALL, timedelta())
    assert len(other.list()) == 2


def test_a_clock_is_compared_with_the_databases(database: Database) -> None:
    """An answer that came late, as its times say, tells nothing."""
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas

    class Clock:
        def __init__(self, ahead: timedelta, step: timedelta) -> None:
            self.at, self.step = datetime.now(UTC) + ahead, step

        def now(self) -> datetime:
            self.at += self.step
            return self.at

    ahead = PostgresReplicas(database).ahead(Clock(timedelta(hours=2), timedelta()))
    assert ahead is not None
    assert abs(ahead - timedelta(hours=2)) < timedelta(minutes=5)
    assert PostgresReplicas(database).ahead(Clock(timedelta(hours=2), timedelta(seconds=1))) is None
