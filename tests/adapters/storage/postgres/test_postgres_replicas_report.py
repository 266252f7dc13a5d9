"""What is found of a database without changing it, and what is said where there is none; no password is repeated."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from bot.errors import ConfigError, DatabaseAway
from bot.ports.migrations import NewerSchema
from bot.ports.replicas import Role
from tests.postgres import driver, new_database
from tests.tables import each_row

SECRET = "s3cret-pa55word"


def test_an_empty_database_is_left_empty() -> None:
    """All migrations are to come."""
    url = new_database()
    from bot.adapters.storage.postgres.postgres_replicas import look

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
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas, look

    PostgresReplicas(Database(url, max_connections=1)).beat("1.0.0", Role.EDGE, timedelta())
    report = look(url)
    assert report.missing == []
    assert [replica.role for replica in report.replicas] == ["edge"]


def test_a_later_release_was_here() -> None:
    """Said as at the start."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_replicas import look

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
    from bot.adapters.storage.postgres.postgres_replicas import look

    for connect in (look, Database):
        with pytest.raises(ConfigError, match="TRIAGE_DATABASE_URL is not the address of a database") as caught:
            connect(url)
        assert SECRET not in str(caught.value)


def test_nobody_answers() -> None:
    """What to check."""
    driver()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_replicas import look

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://triage:{SECRET}@127.0.0.1:{free.getsockname()[1]}/triage"  # nobody else gets it meanwhile
        for connect in (look, Database):
            with pytest.raises(DatabaseAway, match="cannot be reached: check that its server runs") as caught:
                connect(url)
            assert SECRET not in str(caught.value)


@contextmanager
def a_server_that_wants_another_password() -> Iterator[int]:
    """Serve on a port as PostgreSQL does, up to the login.

    Source: https://www.postgresql.org/docs/current/protocol-message-formats.html
    """
    ask = b"R" + (8).to_bytes(4) + (3).to_bytes(4)
    fields = b"SFATAL\0C28P01\0Mpassword authentication failed\0\0"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    if connection.recv(4096)[4:8] == (80877103).to_bytes(4):  # may I speak TLS?
                        connection.sendall(b"N")
                        connection.recv(4096)
                    connection.sendall(ask)
                    connection.recv(4096)
                    connection.sendall(b"E" + (4 + len(fields)).to_bytes(4) + fields)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def test_a_login_that_is_refused() -> None:
    """User, password and name are to be checked, not the network: waiting would not help."""
    driver()
    from bot.adapters.storage.postgres.postgres_replicas import look

    with (
        a_server_that_wants_another_password() as port,
        pytest.raises(ConfigError, match="the database refuses the login: .* in TRIAGE_DATABASE_URL") as caught,
    ):
        look(f"postgresql://triage:{SECRET}@127.0.0.1:{port}/triage")
    assert SECRET not in str(caught.value)


def test_a_database_that_is_not_there() -> None:
    """Its server answers, so that the address is wrong."""
    url = new_database()
    from psycopg.conninfo import make_conninfo

    from bot.adapters.storage.postgres.postgres_replicas import look

    with pytest.raises(ConfigError, match="database name in TRIAGE_DATABASE_URL"):
        look(make_conninfo(url, dbname="nowhere"))
