"""Port Replicas: a row for each process, with the times of the database's clock."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import psycopg

from bot.adapters.storage.postgres.database import Database
from bot.ports.replicas import Replica, Role


class PostgresReplicas:
    """The replicas of a database; this object is one process."""

    def __init__(self, database: Database) -> None:
        self._database, self._id = database, secrets.token_hex(8)

    def beat(self, version: str, role: Role) -> None:
        """Give a sign of life; rows of those that gave none for a day go."""
        with self._database.writing() as connection:
            given = [self._id, self._id, socket.gethostname(), os.getpid(), version, role.value, datetime.now(UTC)]
            connection.execute(_BEAT, given)

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
    VALUES (%s, %s, %s, %s, %s, %s - statement_timestamp())
    ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, seen_at = excluded.seen_at
"""
_LIST: Final = """
    SELECT host, pid, version, role, clock_timestamp() - started_at, clock_timestamp() - seen_at, clock_ahead
    FROM triage_replicas ORDER BY host, pid
"""
