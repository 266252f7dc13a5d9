"""What is found of a database without changing it, and what is said where there is none; no password is repeated."""

from __future__ import annotations

import socket
from datetime import timedelta

import pytest

from bot.errors import ConfigError, DatabaseAway
from bot.ports.migrations import NewerSchema
from bot.ports.system import Role
from tests.postgres import driver, new_database
from tests.tables import each_row

SECRET = "s3cret-pa55word"


def test_an_empty_database_is_left_empty() -> None:
    """All migrations are to come."""
    url = new_database()
    from bot.adapters.storage.postgres.postgres_leases import look

    report = look(url)
    assert report.missing
    assert report.replicas == ()
    assert 0 < report.connections <= report.max_connections
    assert abs(report.clock_ahead) < timedelta(minutes=1)
    assert look(url).missing == report.missing


def test_a_database_in_use() -> None:
    """Nothing is to come, and its replicas are named."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas, look

    PostgresReplicas(Database(url, max_connections=1)).beat("1.0.0", Role.EDGE, timedelta())
    report = look(url)
    assert report.missing == []
    assert [replica.role for replica in report.replicas] == ["edge"]


def test_a_later_release_was_here() -> None:
    """Said as at the start."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import look

    with Database(url, max_connections=1).writing() as connection:
        connection.execute("INSERT INTO triage_migrations (name) VALUES ('9999_later')")
    with pytest.raises(NewerSchema, match="9999_later"):
        look(url)


@each_row(
    "url", [f"mysql://triage:{SECRET}@db/triage", f"postgresql://triage:{SECRET}@db/triage?nonsense=1", f"{SECRET}'"]
)
def test_what_is_no_address(url: str) -> None:
    """A form to copy, and nothing of what was given."""
    driver()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import look

    for connect in (look, Database):
        with pytest.raises(ConfigError, match="TRIAGE_DATABASE_URL is not the address of a database") as caught:
            connect(url)
        assert SECRET not in str(caught.value)


def test_nobody_answers() -> None:
    """What to check."""
    driver()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import look

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://triage:{SECRET}@127.0.0.1:{free.getsockname()[1]}/triage"  # nobody else gets it meanwhile
        for connect in (look, Database):
            with pytest.raises(DatabaseAway, match="cannot be reached: check that its server runs") as caught:
                connect(url)
            assert SECRET not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"dbname": "nowhere"}, {"user": "nobody"}])
def test_a_login_that_is_refused(wrong: dict[str, str]) -> None:
    """User, password and name are to be checked, not the network: waiting would not help."""
    url = new_database()
    from psycopg.conninfo import make_conninfo

    from bot.adapters.storage.postgres.postgres_leases import look

    with pytest.raises(ConfigError, match=r"the database refuses the login: .* in TRIAGE_DATABASE_URL") as caught:
        look(make_conninfo(url, **wrong, password=SECRET))
    assert SECRET not in str(caught.value)
