"""Each process notes itself; the others see when it was there last, by the database's clock."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Unavailable
from bot.ports.system import SILENT, Rate, Role
from handlers.transport.rate_limits import LINE, POST_BURST, RateLimit, RateLimiter
from tests import fork_server
from tests.handlers.slack_stub import Answer, a_poster, refusal, slack_stub
from tests.postgres import new_database, new_namespace, shared_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database


@pytest.fixture
def database() -> Database:
    """A database of its own: a replica is one of all its processes."""
    url = new_database()
    from bot.adapters.storage.postgres.database import Database

    return Database(url, max_connections=2)


def age(database: Database, hours: int) -> None:
    """Let all rows be as many hours older."""
    with database.writing() as connection:
        connection.execute("UPDATE triage_replicas SET seen_at = seen_at - make_interval(hours => %s)", [hours])


def test_a_sign_of_life_is_seen_by_the_others(database: Database) -> None:
    """Who, where, which release, what for; a second sign of life adds no row."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    one, other = PostgresReplicas(database), PostgresReplicas(database)
    for _ in range(2):
        one.beat("1.0.0", Role.WORK, timedelta())
    (seen,) = other.list()
    assert (seen.host, seen.pid, seen.version, seen.role) == (socket.gethostname(), os.getpid(), "1.0.0", "work")
    assert seen.is_alive
    assert seen.clock_ahead == timedelta()
    assert f"process {os.getpid()} on {socket.gethostname()}: triage 1.0.0, role work" in seen.line


def test_who_was_killed_is_shown_for_a_day(database: Database) -> None:
    """As silent; then whoever lives removes it. Who stops in order is gone at once."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    PostgresReplicas(database).beat("1.0.0", Role.ALL, timedelta())
    age(database, 23)
    alive = PostgresReplicas(database)
    alive.beat("1.0.0", Role.ALL, timedelta())
    silent, living = sorted(alive.list(), key=lambda replica: replica.is_alive)
    assert silent.silent_for > SILENT
    assert "no sign of life for 23 h" in silent.line
    assert living.is_alive
    age(database, 2)
    alive.beat("1.0.0", Role.ALL, timedelta())
    assert [replica.is_alive for replica in alive.list()] == [True]
    alive.leave()
    assert alive.list() == []


def test_a_replica_that_others_forgot_is_there_again(database: Database) -> None:
    """It was paused for a day and goes on."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    paused, other = PostgresReplicas(database), PostgresReplicas(database)
    paused.beat("1.0.0", Role.ALL, timedelta())
    age(database, 25)
    other.beat("1.0.0", Role.ALL, timedelta())
    paused.beat("1.0.0", Role.ALL, timedelta())
    assert len(other.list()) == 2


def test_a_clock_is_compared_with_the_databases(database: Database) -> None:
    """An answer that came late, as its times say, tells nothing."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    class Clock:
        def __init__(self, ahead: timedelta, step: timedelta) -> None:
            self.at, self.step = datetime.now(UTC) + ahead, step

        def now(self) -> datetime:
            self.at += self.step
            return self.at

    ahead = PostgresReplicas(database).ahead(Clock(timedelta(hours=2), timedelta()))
    assert ahead is not None
    assert abs(ahead - timedelta(hours=2)) < timedelta(minutes=5)
    assert PostgresReplicas(database).ahead(Clock(timedelta(hours=2), timedelta(seconds=1))) is None


PROCESSES: Final = 4
POSTS: Final = 12
PER_SECOND: Final = 20.0
PROGRAM: Final = f"""
import sys, time, requests
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_leases import PostgresPace
from handlers.transport.rate_limits import RateLimiter
database_url, namespace, server_url = sys.argv[1:]
def wait(seconds):
    global due
    due = time.monotonic() + seconds
    time.sleep(seconds)
pace = PostgresPace(Database(database_url, max_connections=2), namespace)
limiter = RateLimiter(pace, posts_per_second={PER_SECOND}, wait=wait)
print("ready", flush=True)
sys.stdin.readline()
for _ in range({POSTS}):
    due = time.monotonic()
    limiter.wait_turn(limiter.posts, "C1", patience_s=300)
    requests.post(server_url, data=str(due), timeout=300)
"""


class Receiver(ThreadingHTTPServer):
    """Notes when each post arrived, and how long after it was due."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived: list[tuple[float, float]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        due = float(self.rfile.read(int(self.headers["Content-Length"])))
        now = time.monotonic()
        self.server.arrived.append((now, now - due))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


@pytest.mark.full
def test_four_processes_keep_the_pace_of_one() -> None:
    """In any window at most the burst and what the rate allows; a post that was late on its way counts when due."""
    url, namespace = shared_database()._url, new_namespace()
    with receiver() as server, ExitStack() as stack:
        argv = [PROGRAM, url, namespace, f"http://127.0.0.1:{server.server_port}/"]
        processes = [
            stack.enter_context(fork_server.lines("tests.program", *argv, loads=["requests"])) for _ in range(PROCESSES)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "ready"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [process.wait(300) for process in processes] == [0] * PROCESSES
    arrived = sorted(at for at, _ in server.arrived)
    late_s = max(late for _, late in server.arrived)
    assert len(arrived) == PROCESSES * POSTS
    for first, begin in enumerate(arrived):
        for count, end in enumerate(arrived[first:], 1):
            assert count <= POST_BURST + (end - begin + late_s) * PER_SECOND + 1e-6


steps = st.one_of(
    st.tuples(st.just("ask"), st.integers(min_value=0, max_value=1)),
    st.tuples(st.just("hold"), st.integers(min_value=1, max_value=900)),
    st.tuples(st.just("pass"), st.integers(min_value=1, max_value=900)),
)


@given(steps=st.lists(steps, max_size=15), burst=st.integers(min_value=2, max_value=5))
def test_the_statement_counts_as_a_process_does(steps: list[tuple[str, int]], burst: int) -> None:
    """Whatever is asked, held and waited: the same waits, to the seconds that a test takes."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresPace

    namespace, now, patience_s = new_namespace(), 0.0, 1_000.0
    rate, own = Rate("posts", 0.01, burst), RateLimit(per_second=0.01, burst=burst)
    pace = PostgresPace(shared_database(), namespace)
    for step, amount in steps:
        if step == "hold":
            own.hold(now, amount)
            pace.hold(rate, "C1", amount)
        elif step == "pass":
            now += amount
            with shared_database().writing() as connection:
                connection.execute(
                    "UPDATE triage_paces SET full_at = full_at - make_interval(secs => %(s)s), "
                    "held_until = held_until - make_interval(secs => %(s)s) WHERE namespace = %(namespace)s",
                    {"s": amount, "namespace": namespace},
                )
        else:
            wait_s = own.wait_s(now, spare=amount)
            assert pace.reserve(rate, "C1", patience_s=patience_s, spare=amount) == pytest.approx(wait_s, abs=30)
            if wait_s <= patience_s - 30:
                own.take(now)
            elif wait_s < patience_s + 30:  # who is to say
                return


def test_a_refusal_that_is_waited_for_slows_the_others() -> None:
    """While one process waits for the end of its 429, no other process posts to that channel."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresPace

    pace = PostgresPace(shared_database(), new_namespace())
    refused: list[float | None] = []
    now = [0.0]

    def look(asked_s: float) -> None:
        now[0] += asked_s
        assert asked_s == pytest.approx(6, abs=2)
        other = RateLimiter(pace)
        other.wait_turn(other.posts, "C2")
        with pytest.raises(Unavailable) as caught:
            other.wait_turn(other.posts, "C1", patience_s=1)
        refused.append(caught.value.retry_after_s)

    with slack_stub() as slack:
        slack.will("chat.postMessage", refusal("ratelimited", status=429, Retry_After="6"), Answer({"ts": "1.2"}))
        one = a_poster(slack.url, limiter=RateLimiter(pace, monotonic=lambda: now[0], wait=look))
        with pytest.raises(Unavailable):  # for the database no time has passed
            one.post("C1", "hello", what="post", rank=LINE)
    assert refused == [pytest.approx(6, abs=2)]


def test_posts_go_on_without_the_database(caplog: pytest.LogCaptureFixture) -> None:
    """At the process's own rate; it is said once."""
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import PostgresPace

    database = Database(new_database(), max_connections=1)
    limiter = RateLimiter(PostgresPace(database, new_namespace()))
    limiter.wait_turn(limiter.posts, "C1")
    database.close()
    with caplog.at_level(logging.INFO):
        for channel in ("C1", "C2", "C3"):
            limiter.wait_turn(limiter.posts, channel)
        limiter.hold(limiter.posts, "C1", 30)
    assert [record.action for record in caplog.records] == ["pace_alone"]  # type: ignore[attr-defined]


def test_rows_of_long_ago_go() -> None:
    """Whoever gives a sign of life removes them."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresPace, PostgresReplicas

    namespace, rate = new_namespace(), Rate("posts", 1, 1)
    PostgresPace(shared_database(), namespace).reserve(rate, "C-old", patience_s=0)
    with shared_database().writing() as connection:
        connection.execute(
            "UPDATE triage_paces SET full_at = full_at - interval '2 h', slot_at = slot_at - interval '2 h' "
            "WHERE namespace = %s",
            [namespace],
        )
    PostgresPace(shared_database(), namespace).reserve(rate, "C-new", patience_s=0)
    PostgresReplicas(shared_database()).beat("1.0.0", Role.ALL, timedelta())
    with shared_database().reading() as connection:
        rows = connection.execute("SELECT key FROM triage_paces WHERE namespace = %s", [namespace]).fetchall()
    assert rows == [("C-new",)]
