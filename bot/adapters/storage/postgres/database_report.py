"""How a database stands, for `triage doctor`: looked at with one connection, and nothing in it is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.adapters.storage.postgres.database import connect, translated
from bot.adapters.storage.postgres.migrations import missing
from bot.adapters.storage.postgres.postgres_replicas import read_replicas
from bot.ports.replicas import Replica


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
