"""The tables: ours by the numbered files of schema/, the queue's by Procrastinate's own; each is applied once.

All of it is one transaction under an advisory lock, so replicas that start together do not meet. A release only adds
files: one that was applied never changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import psycopg

from bot.ports.migrations import NewerSchema

_LOCK: Final = 0x7472696167650001
"""Of the advisory lock; `triage` in ASCII, and which of its locks."""

_OURS: Final = resources.files("bot.adapters.storage.postgres") / "schema"
_QUEUE: Final = "procrastinate/"


def migrate(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Apply what is missing; raises psycopg.Error.

    Raises:
        NewerSchema: a later release was here; nothing was changed.
    """
    wanted = _migrations()
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute(
            "CREATE TABLE IF NOT EXISTS triage_migrations "
            "(name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        applied = _applied(connection, wanted)
        if not any(name.startswith(_QUEUE) for name in applied):
            connection.execute(_whole_queue().encode())
            for name in [name for name in wanted if name.startswith(_QUEUE)]:
                applied.add(_noted(connection, name))
        for name in [name for name in wanted if name not in applied]:
            connection.execute(wanted[name].encode())
            _noted(connection, name)


def missing(connection: psycopg.Connection[tuple[Any, ...]]) -> Sequence[str]:
    """Return the names of the migrations that are still to be applied, and change nothing; raises psycopg.Error.

    Raises:
        NewerSchema: a later release was here.
    """
    wanted = _migrations()
    if connection.execute("SELECT to_regclass('triage_migrations')").fetchone() == (None,):
        return list(wanted)
    applied = _applied(connection, wanted)
    return [name for name in wanted if name not in applied]


def _applied(connection: psycopg.Connection[tuple[Any, ...]], wanted: Collection[str]) -> set[str]:
    """Return the names of the migrations that are applied; raises NewerSchema."""
    applied = {name for (name,) in connection.execute("SELECT name FROM triage_migrations")}
    if unknown := applied.difference(wanted):
        raise NewerSchema(
            f"a later release of triage has written the database ({max(unknown)}); install that release, "
            "or put the database back from a backup"
        )
    return applied


def _noted(connection: psycopg.Connection[tuple[Any, ...]], name: str) -> str:
    """Note that a migration is applied."""
    connection.execute("INSERT INTO triage_migrations (name) VALUES (%s)", [name])
    return name


def _migrations() -> Mapping[str, str]:
    """Return the statements of every migration by its name, in order."""
    from procrastinate.schema import SchemaManager

    queue = {f"{_QUEUE}{one.stem}": one for one in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))}
    ours = {Path(one.name).stem: one for one in sorted(_OURS.iterdir(), key=lambda one: one.name)}
    return {name: one.read_text(encoding="utf-8") for name, one in {**queue, **ours}.items()}


def _whole_queue() -> str:
    """Return what makes the queue's tables where there are none: the sum of its migrations."""
    from procrastinate.schema import SchemaManager

    return str(SchemaManager.get_schema())
