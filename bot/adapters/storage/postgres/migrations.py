"""The tables: ours by the numbered files of schema/, the queue's by Procrastinate's own; each is applied once.

All of it is one transaction under an advisory lock, so replicas that start together do not meet. A release only adds
files: one that was applied never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import psycopg

from bot.ports.migrations import NewerSchema

LOCK: Final = 0x7472696167650001
"""Of the advisory lock that every start asks for; `triage` in ASCII, and which of its locks."""

_OURS: Final = resources.files("bot.adapters.storage.postgres") / "schema"


def migrate(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Apply what is missing; raises psycopg.Error.

    Raises:
        NewerSchema: a later release was here; nothing was changed.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        connection.execute(
            "CREATE TABLE IF NOT EXISTS triage_migrations "
            "(name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        for name, statements in missing(connection).items():
            connection.execute(statements.encode())
            connection.execute("INSERT INTO triage_migrations (name) VALUES (%s)", [name])


def missing(connection: psycopg.Connection[tuple[Any, ...]]) -> Mapping[str, str]:
    """Return the migrations that are still to be applied, in order: names and statements; raises psycopg.Error.

    Raises:
        NewerSchema: a later release was here.
    """
    wanted = _migrations()
    if connection.execute("SELECT to_regclass('triage_migrations')").fetchone() == (None,):
        return wanted
    applied = {name for (name,) in connection.execute("SELECT name FROM triage_migrations")}
    if unknown := applied.difference(wanted):
        raise NewerSchema(
            f"a later release of triage has written the database ({max(unknown)}); install that release, "
            "or put the database back from a backup"
        )
    return {name: statements for name, statements in wanted.items() if name not in applied}


def _migrations() -> Mapping[str, str]:
    """Return the statements of every migration by its name, in order."""
    from procrastinate.schema import SchemaManager

    queue = {
        f"procrastinate/{one.stem}": one for one in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    }
    ours = {Path(one.name).stem: one for one in sorted(_OURS.iterdir(), key=lambda one: one.name)}
    return {name: one.read_text(encoding="utf-8") for name, one in {**queue, **ours}.items()}
