"""The tables of an empty database, of one that has them, and of one that a later release has written."""

from __future__ import annotations

import threading

import pytest

from bot.ports.migrations import NewerSchema
from tests.postgres import driver, new_database


def _applied(url: str) -> list[tuple[str, object]]:
    with driver().connect(url) as connection:
        return list(connection.execute("SELECT name, applied_at FROM triage_migrations ORDER BY name"))


def test_the_tables_are_made_once() -> None:
    """The second start changes nothing; the queue's own migrations count as applied with its tables."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    Database(url).close()
    first = _applied(url)
    Database(url).close()
    assert _applied(url) == first
    names = [name for name, _ in first]
    assert "0001_documents" in names
    assert any(name.startswith("procrastinate/") for name in names)


def test_replicas_that_start_together_make_them_once() -> None:
    """Each finds whole tables, whoever was first."""
    url, opened = new_database(), []
    from bot.adapters.storage.postgres.database import Database

    starts = [threading.Thread(target=lambda: opened.append(Database(url))) for _ in range(6)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len(opened) == 6
    for database in opened:
        database.close()


def test_a_database_of_a_later_release_is_refused_and_left_alone() -> None:
    """In one sentence that says what to do."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    Database(url).close()
    with driver().connect(url) as connection:
        connection.execute("INSERT INTO triage_migrations (name) VALUES ('9999_later')")
    before = _applied(url)
    with pytest.raises(
        NewerSchema, match=r"a later release of triage has written the database \(9999_later\); install"
    ):
        Database(url)
    assert _applied(url) == before
