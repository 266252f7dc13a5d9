"""Ports Leases, Replicas and SharedPace over rows: what only one may do, who is alive, and the rates they share."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from psycopg.rows import class_row

from bot.adapters.storage.postgres.database import Connection, Database, Fence, connect_first, missing, translated
from bot.errors import ConfigError, StoreError
from bot.ports import Clock
from bot.ports.system import Rate, Replica, Role

log = logging.getLogger(__name__)


LASTS_S: Final = 15.0
"""How long after its last sign of life a holder's lease is another's, in seconds."""

RENEWALS: Final = 3
"""Signs of life in that time."""

_TAKE: Final = """
    INSERT INTO triage_leases AS known (namespace, name, token, holder, expires_at)
    VALUES (%s, %s, 1, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (namespace, name) DO UPDATE
    SET token = known.token + 1, holder = excluded.holder, expires_at = excluded.expires_at
    WHERE known.holder IS NULL OR known.expires_at <= clock_timestamp()
    RETURNING namespace, name, token
"""
_HOLDER: Final = """
    SELECT holder FROM triage_leases
    WHERE namespace = %s AND name = %s AND holder IS NOT NULL AND expires_at > clock_timestamp()
"""
_RENEW: Final = """
    UPDATE triage_leases SET expires_at = clock_timestamp() + make_interval(secs => %s)
    WHERE namespace = %s AND name = %s AND token = %s AND holder IS NOT NULL RETURNING 1
"""


class PostgresLeases:
    """The leases of one namespace."""

    def __init__(self, database: Database, namespace: str, *, lasts_s: float = LASTS_S) -> None:
        self._database, self._namespace, self._lasts_s = database, namespace, lasts_s

    def take(self, name: str) -> PostgresLease:
        """Return the lease at once, held until it is released or this process shows no more signs of life.

        Raises:
            ConfigError: another process holds it; names it.
        """
        given = [self._namespace, name, f"{socket.gethostname()}:{os.getpid()}", self._lasts_s]
        taken = self._database.write(_TAKE, given)
        if not taken:
            raise ConfigError(
                f"triage already runs as {name!r} of {self._namespace} (process {self.holder(name) or 'unknown'}); "
                "stop it, or wait until it has stopped"
            )
        return PostgresLease(self._database, Fence(*taken[0]), self._lasts_s)

    def holder(self, name: str) -> str | None:
        """Return which process has taken a lease, or None: its id, and its machine where that is another one."""
        held = self._database.read(_HOLDER, [self._namespace, name])
        if not held:
            return None
        machine, process = str(held[0][0]).rsplit(":", 1)
        return process if machine == socket.gethostname() else f"{process} on {machine}"


class PostgresLease:
    """A lease as this process took it; a thread renews it."""

    def __init__(self, database: Database, fence: Fence, lasts_s: float) -> None:
        self._database, self._fence, self._lasts_s = database, fence, lasts_s
        self._over = threading.Event()
        threading.Thread(target=self._renew, name=f"lease {fence.name}", daemon=True).start()

    @property
    def is_held(self) -> bool:
        """Whether this process still renews it: another may have it as soon as that failed for as long as it lasts."""
        return not self._over.is_set()

    def fenced(self) -> AbstractContextManager[None]:
        """Refuse what this thread writes inside (LeaseLost), once another process has the lease."""
        return self._database.fenced(self._fence)

    def release(self) -> None:
        """Let another have it at once; nothing happens where another has it already."""
        self._over.set()
        self._database.write(
            "UPDATE triage_leases SET holder = NULL WHERE namespace = %s AND name = %s AND token = %s", self._fence
        )

    def _renew(self) -> None:
        """Give signs of life until it is released, or another's."""
        while not self._over.wait(self._lasts_s / RENEWALS):
            try:
                is_ours = self._database.write(_RENEW, [self._lasts_s, *self._fence])
            except StoreError as error:
                log.warning("%s was not renewed: %s", self._fence.name, error, extra={"action": "lease_not_renewed"})
                continue
            if not is_ours and self.is_held:
                self._over.set()
                log.warning("another process took over %s", self._fence.name, extra={"action": "lease_lost"})


LATE: Final = timedelta(seconds=0.5)
"""An answer that took longer says nothing of a clock."""

ANSWER_S: Final = 2.0
"""How long to wait for a connection: a post is worth more than its pace."""

_BEAT: Final = """
    WITH silent AS (
        DELETE FROM triage_replicas WHERE seen_at < clock_timestamp() - interval '1 day' AND id <> %(id)s
    ), idle AS (
        DELETE FROM triage_paces WHERE greatest(full_at, held_until, slot_at) < clock_timestamp() - interval '1 hour'
    )
    INSERT INTO triage_replicas (id, host, pid, version, role, clock_ahead)
    VALUES (%(id)s, %(host)s, %(pid)s, %(version)s, %(role)s, %(clock_ahead)s)
    ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, seen_at = excluded.seen_at
"""
_LIST: Final = """
    SELECT host, pid, version, role, clock_timestamp() - started_at AS runs_for,
    clock_timestamp() - seen_at AS silent_for, clock_ahead FROM triage_replicas ORDER BY host, pid
"""
_SERVER: Final = """
    SELECT clock_timestamp(), to_regclass('triage_replicas') IS NOT NULL, current_setting('server_version'),
    (SELECT sum(numbackends)::int FROM pg_stat_database),
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
"""
_RESERVE: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at)
    SELECT %(namespace)s, %(rate)s, %(key)s, now + make_interval(secs => %(interval_s)s), now
    FROM statement_timestamp() AS now
    ON CONFLICT (namespace, rate, key) DO UPDATE SET (slot_at, full_at) = (
        SELECT slot, CASE
            WHEN slot > excluded.slot_at + make_interval(secs => %(patience_s)s) THEN known.full_at
            ELSE greatest(known.full_at + make_interval(secs => %(interval_s)s), excluded.full_at)
        END
        FROM greatest(excluded.slot_at, known.full_at - make_interval(secs => %(lead_s)s), known.held_until) AS slot
    )
    RETURNING extract(epoch FROM slot_at - statement_timestamp())::float
"""
_HOLD: Final = """
    INSERT INTO triage_paces AS known (namespace, rate, key, full_at, slot_at, held_until)
    SELECT %s, %s, %s, now, now, now + make_interval(secs => %s) FROM statement_timestamp() AS now
    ON CONFLICT (namespace, rate, key) DO UPDATE SET held_until = greatest(known.held_until, excluded.held_until)
"""


class PostgresReplicas:
    """The replicas of a database; this object is one process."""

    def __init__(self, database: Database) -> None:
        self._database, self._id = database, secrets.token_hex(8)

    def beat(self, version: str, role: Role, clock_ahead: timedelta) -> None:
        """Give a sign of life; rows of those that gave none for a day go, and of rates that nobody asked for lately."""
        process = {"id": self._id, "host": socket.gethostname(), "pid": os.getpid()}
        self._database.write(_BEAT, {**process, "version": version, "role": role.value, "clock_ahead": clock_ahead})

    def ahead(self, clock: Clock) -> timedelta | None:
        """Return how far a clock is ahead of the database's; None where the answer came too late to tell."""
        with self._database.reading() as connection:
            asked_at = clock.now()
            [(theirs,)] = connection.execute("SELECT statement_timestamp()")
            took = clock.now() - asked_at
        return asked_at - theirs if took < LATE else None

    def leave(self) -> None:
        """Remove this process: it stops."""
        self._database.write("DELETE FROM triage_replicas WHERE id = %s", [self._id])

    def list(self) -> Sequence[Replica]:
        """Return all, by host and process."""
        with self._database.reading() as connection:
            return read_replicas(connection)


def read_replicas(connection: Connection) -> Sequence[Replica]:
    """Return all replicas, by host and process; raises psycopg.Error."""
    with connection.cursor(row_factory=class_row(Replica)) as cursor:
        return cursor.execute(_LIST).fetchall()


class DatabaseReport(NamedTuple):
    """What was found; `missing` are the names of migrations that the next start applies.

    `clock_ahead` is how far this machine's clock is ahead of the database's; `replicas` are those of the last day.
    """

    missing: Sequence[str]
    clock_ahead: timedelta
    replicas: Sequence[Replica]
    server_version: str
    connections: int
    max_connections: int


def look(url: str) -> DatabaseReport:
    """Return how a database stands.

    Raises:
        ConfigError: `url` is not the address of a database, or it refuses the login.
        StoreError: it does not answer, or (NewerSchema) a later release wrote it.
    """
    with translated(), connect_first(url) as connection:
        asked_at = datetime.now(UTC)
        [(theirs, has_replicas, *server)] = connection.execute(_SERVER)
        replicas = read_replicas(connection) if has_replicas else ()
        return DatabaseReport([*missing(connection)], asked_at - theirs, replicas, *server)


class PostgresPace:
    """The rates of one namespace: a bot in its workspace."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database, self._namespace = database, namespace

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Take the next slot and return in how many seconds it comes; more than `patience_s`: nothing was taken."""
        interval_s = 1 / rate.per_second
        place = {"namespace": self._namespace, "rate": rate.name, "key": key, "patience_s": patience_s}
        given = {**place, "interval_s": interval_s, "lead_s": (rate.burst - 1 - spare) * interval_s}
        with self._database.apart(answer_s=ANSWER_S) as connection:
            [(wait_s,)] = connection.execute(_RESERVE, given)
            return float(wait_s)

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Let nobody take a slot before so many seconds have passed."""
        with self._database.apart(answer_s=ANSWER_S) as connection:
            connection.execute(_HOLD, [self._namespace, rate.name, key, seconds])
