"""The one transaction of a move: nobody else works on the database, and all or nothing of it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from bot.adapters.storage.postgres.database import Database, translated
from bot.adapters.storage.postgres.database_state import TABLES, DatabaseState, Identities
from bot.adapters.storage.postgres.postgres_replicas import read_replicas
from bot.adapters.storage.postgres.queue_worker import SILENT_S
from bot.errors import ConfigError


@contextmanager
def moving(database: Database, identities: Identities) -> Iterator[DatabaseState]:
    """Enter with the state of a database, alone; what is written inside is committed at the end, or nothing.

    Raises:
        ConfigError: a replica works on it.
    """
    _refuse_running(database)
    with translated(), database.connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute(f"LOCK TABLE {', '.join(TABLES)} IN EXCLUSIVE MODE".encode())
        yield DatabaseState(connection, identities)
        _refuse_running(database)  # one that was started meanwhile


def _refuse_running(database: Database) -> None:
    with database.reading() as connection:
        alive = [one.name for one in read_replicas(connection) if one.is_alive]
        silent = connection.execute(_SIGNS_OF_LIFE, [SILENT_S]).fetchone()
    if alive or silent is not None:
        who = ", ".join(alive) or f"somebody who gave a sign of life {silent[0] if silent else 0} s ago"
        raise ConfigError(
            f"triage runs on the database ({who}); stop it, and where it was killed, try again half a minute later"
        )


_SIGNS_OF_LIFE: Final = """
    SELECT extract(epoch FROM now() - last_heartbeat)::int FROM procrastinate_workers
    WHERE last_heartbeat > now() - make_interval(secs => %s) ORDER BY last_heartbeat DESC LIMIT 1
"""
