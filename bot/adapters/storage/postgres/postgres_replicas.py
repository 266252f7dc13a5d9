"""Ports Replicas and SharedPace over tables: one row for each process, and one for each rate that processes share.

Times are those of the database's clock. One statement finds the next slot of a rate and takes it; it commits by
itself, even inside a transaction or fence of this thread, because other processes must not wait for those.
`look` is for `triage doctor`, which uses one connection and changes nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from psycopg.rows import class_row

from bot.adapters.storage.postgres.database import Connection, Database, connect_first, translated
from bot.adapters.storage.postgres.migrations import missing
from bot.ports import Clock
from bot.ports.replicas import Rate, Replica, Role

LATE: Final = timedelta(seconds=0.5)
"""An answer that took longer says nothing of a clock."""

ANSWER_S: Final = 2.0
"""How long to wait for a connection: a post is worth more than its pace."""

_BEAT: Final = """
    WITH silent AS (
        DELETE FROM triage_replicas WHERE seen_at < clock_timestamp() - interval '1 day' AND id <> %(id)s
    ), idle AS (
        DELETE FROM triage_paces WHERE greatest(full_at, held_until, slot_at) < clock_timestamp() - interval '1 hour'
    )
    INSERT INTO triage_replicas (id, host, pid, version, role, clock_ahead)
    VALUES (%(id)s, %(host)s, %(pid)s, %(version)s, %(role)s, %(clock_ahead)s)
    ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, seen_at = excluded.seen_at
"""
_LIST: Final = """
    SELECT host, pid, version, role, clock_timestamp() - started_at AS runs_for,
    clock_timestamp() - seen_at AS silent_for, clock_ahead FROM triage_replicas ORDER BY host, pid
"""
_SERVER: Final = """
    SELECT clock_timestamp(), to_regclass('triage_replicas') IS NOT NULL, current_setting('server_version'),
    (SELECT sum(numbackends)::int FROM pg_stat_database),
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
"""
_RESERVE: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at)
    SELECT %(namespace)s, %(rate)s, %(key)s, now + make_interval(secs => %(interval_s)s), now
    FROM statement_timestamp() AS now
    ON CONFLICT (namespace, rate, key) DO UPDATE SET (slot_at, full_at) = (
        SELECT slot, CASE
            WHEN slot > excluded.slot_at + make_interval(secs => %(patience_s)s) THEN known.full_at
            ELSE greatest(known.full_at + make_interval(secs => %(interval_s)s), excluded.full_at)
        END
        FROM greatest(excluded.slot_at, known.full_at - make_interval(secs => %(lead_s)s), known.held_until) AS slot
    )
    RETURNING extract(epoch FROM slot_at - statement_timestamp())::float
"""
_HOLD: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at, held_until)
    SELECT %s, %s, %s, now, now, now + make_interval(secs => %s) FROM statement_timestamp() AS now
    ON CONFLICT (namespace, rate, key) DO UPDATE SET held_until = greatest(known.held_until, excluded.held_until)
"""


class PostgresReplicas:
    """The replicas of a database; this object is one process."""

    def __init__(self, database: Database) -> None:
        self._database, self._id = database, secrets.token_hex(8)

    def beat(self, version: str, role: Role, clock_ahead: timedelta) -> None:
        """Give a sign of life; rows of those that gave none for a day go, and of rates that nobody asked for lately."""
        process = {"id": self._id, "host": socket.gethostname(), "pid": os.getpid()}
        self._database.write(_BEAT, {**process, "version": version, "role": role.value, "clock_ahead": clock_ahead})

    def ahead(self, clock: Clock) -> timedelta | None:
        """Return how far a clock is ahead of the database's; None where the answer came too late to tell."""
        with self._database.reading() as connection:
            asked_at = clock.now()
            [(theirs,)] = connection.execute("SELECT statement_timestamp()")
            took = clock.now() - asked_at
        return asked_at - theirs if took < LATE else None

    def leave(self) -> None:
        """Remove this process: it stops."""
        self._database.write("DELETE FROM triage_replicas WHERE id = %s", [self._id])

    def list(self) -> Sequence[Replica]:
        """Return all, by host and process."""
        with self._database.reading() as connection:
            return read_replicas(connection)


def read_replicas(connection: Connection) -> Sequence[Replica]:
    """Return all replicas, by host and process; raises psycopg.Error."""
    with connection.cursor(row_factory=class_row(Replica)) as cursor:
        return cursor.execute(_LIST).fetchall()


class DatabaseReport(NamedTuple):
    """What was found; `missing` are the names of migrations that the next start applies.

    `clock_ahead` is how far this machine's clock is ahead of the database's; `replicas` are those of the last day.
    """

    missing: Sequence[str]
    clock_ahead: timedelta
    replicas: Sequence[Replica]
    server_version: str
    connections: int
    max_connections: int


def look(url: str) -> DatabaseReport:
    """Return how a database stands.

    Raises:
        ConfigError: `url` is not the address of a database, or it refuses the login.
        StoreError: it does not answer, or (NewerSchema) a later release wrote it.
    """
    with translated(), connect_first(url) as connection:
        asked_at = datetime.now(UTC)
        [(theirs, has_replicas, *server)] = connection.execute(_SERVER)
        replicas = read_replicas(connection) if has_replicas else ()
        return DatabaseReport([*missing(connection)], asked_at - theirs, replicas, *server)


class PostgresPace:
    """The rates of one namespace: a bot in its workspace."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database, self._namespace = database, namespace

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Take the next slot and return in how many seconds it comes; more than `patience_s`: nothing was taken."""
        interval_s = 1 / rate.per_second
        place = {"namespace": self._namespace, "rate": rate.name, "key": key, "patience_s": patience_s}
        given = {**place, "interval_s": interval_s, "lead_s": (rate.burst - 1 - spare) * interval_s}
        with self._database.apart(answer_s=ANSWER_S) as connection:
            [(wait_s,)] = connection.execute(_RESERVE, given)
            return float(wait_s)

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Let nobody take a slot before so many seconds have passed."""
        with self._database.apart(answer_s=ANSWER_S) as connection:
            connection.execute(_HOLD, [self._namespace, rate.name, key, seconds])
