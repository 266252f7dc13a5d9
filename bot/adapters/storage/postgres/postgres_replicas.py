"""Port Replicas: a row for each process, with the times of the database's clock; and how a database stands.

`triage doctor` looks at a database with one connection, and changes nothing in it.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg

from bot.adapters.storage.postgres.database import Database, connect, translated
from bot.adapters.storage.postgres.migrations import missing
from bot.ports import Clock
from bot.ports.replicas import Replica, Role

LATE: Final = timedelta(seconds=0.5)
"""An answer that took longer says nothing of a clock."""


class PostgresReplicas:
    """The replicas of a database; this object is one process."""

    def __init__(self, database: Database) -> None:
        self._database, self._id = database, secrets.token_hex(8)

    def beat(self, version: str, role: Role, clock_ahead: timedelta) -> None:
        """Give a sign of life; rows of those that gave none for a day go."""
        with self._database.writing() as connection:
            given = [self._id, self._id, socket.gethostname(), os.getpid(), version, role.value, clock_ahead]
            connection.execute(_BEAT, given)

    def ahead(self, clock: Clock) -> timedelta | None:
        """Return how far a clock is ahead of the database's; None where the answer came too late to tell."""
        with self._database.reading() as connection:
            asked_at = clock.now()
            row = connection.execute("SELECT statement_timestamp()").fetchone()
            took = clock.now() - asked_at
        assert row is not None
        theirs: datetime = row[0]
        return asked_at - theirs if took < LATE else None

    def leave(self) -> None:
        """Remove this process: it stops."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM triage_replicas WHERE id = %s", [self._id])

    def list(self) -> Sequence[Replica]:
        """Return all, by host and process."""
        with self._database.reading() as connection:
            return read_replicas(connection)


def read_replicas(connection: psycopg.Connection[tuple[Any, ...]]) -> Sequence[Replica]:
    """Return all replicas, by host and process; raises psycopg.Error."""
    names = ("host", "pid", "version", "role", "runs_for", "silent_for", "clock_ahead")
    return [Replica(**dict(zip(names, row, strict=True))) for row in connection.execute(_LIST)]


_BEAT: Final = """
    WITH gone AS (
        DELETE FROM triage_replicas WHERE seen_at < clock_timestamp() - interval '1 day' AND id <> %s
    )
    INSERT INTO triage_replicas AS known (id, host, pid, version, role, clock_ahead)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, seen_at = excluded.seen_at
"""
_LIST: Final = """
    SELECT host, pid, version, role, clock_timestamp() - started_at, clock_timestamp() - seen_at, clock_ahead
    FROM triage_replicas ORDER BY host, pid
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseReport:
    """What was found; `missing` are the names of migrations that the next start applies.

    `clock_ahead` is how far this machine's clock is ahead of the database's; `replicas` are those of the last day.
    """

    server_version: str
    missing: Sequence[str]
    connections: int
    max_connections: int
    clock_ahead: timedelta
    replicas: Sequence[Replica]


def look(url: str) -> DatabaseReport:
    """Return how a database stands.

    Raises:
        ConfigError: `url` is not the address of a database.
        StoreError: it does not answer, or (NewerSchema) a later release wrote it.
    """
    with translated(), connect(url) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'), sum(numbackends), "
            "current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int "
            "FROM pg_stat_database"
        ).fetchone()
        assert row is not None
        asked_at = datetime.now(UTC)
        answered = connection.execute("SELECT clock_timestamp()").fetchone()
        assert answered is not None
        has_replicas = connection.execute("SELECT to_regclass('triage_replicas')").fetchone() != (None,)
        return DatabaseReport(
            server_version=row[0],
            missing=missing(connection),
            connections=int(row[1]),
            max_connections=row[2],
            clock_ahead=asked_at - answered[0],
            replicas=read_replicas(connection) if has_replicas else (),
        )
