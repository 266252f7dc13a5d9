"""One PostgreSQL database: its connections, transactions, errors and tables."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from typing import Any, Final, LiteralString, NamedTuple, TypeAlias

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from bot.errors import ConfigError, DatabaseAway, StoreError
from bot.ports.migrations import NewerSchema

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]

URL: Final = "TRIAGE_DATABASE_URL"
EXAMPLE: Final = "postgresql://user:password@host:5432/triage"
MAX_CONNECTIONS: Final = 10
ANSWER_S: Final = 10.0
"""How long to wait for a connection, or for what takes a server no time, in seconds."""

_SETTINGS: Final[dict[str, Any]] = {
    "autocommit": True,
    "application_name": "triage",
    "connect_timeout": int(ANSWER_S),
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    # A process that is paused inside a transaction, or whose machine is gone, must not keep its locks.
    "options": "-c idle_in_transaction_session_timeout=10s -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 "
    "-c tcp_keepalives_count=3",
}
_UNREACHABLE: Final = (
    "the database cannot be reached: check that its server runs and takes connections, and host, port, user, password "
    f"and database name in {URL}"
)
_READ_ONLY: Final = "25006"
"""The SQLSTATE of a write to a server that takes none: a standby, or one in recovery."""


class Fence(NamedTuple):
    """A lease as it was taken; another holder has another token."""

    namespace: str
    name: str
    token: int


class LeaseLost(StoreError):
    """Another process has the lease by now; nothing was written."""


class Violated(StoreError):
    """What was to be written goes against a rule of the tables."""


class _OfThread(threading.local):
    """What the statements of a thread belong to: its transaction, if any, and the leases that must be its process's."""

    connection: Connection | None = None
    fences: tuple[Fence, ...] = ()


class Database:
    """A pool of connections to a database whose tables are there."""

    def __init__(self, url: str, *, max_connections: int = MAX_CONNECTIONS, migrates: bool = True) -> None:
        """Connect and bring the tables to this release's form, or refuse others where it does not; raises StoreError.

        Raises:
            ConfigError: `url` is not the address of a database.
            NewerSchema: a later release wrote the tables; nothing was changed.
        """
        self._url = url
        self._pool = ConnectionPool(
            url, kwargs=_SETTINGS, min_size=1, max_size=max_connections, open=False, timeout=ANSWER_S, check=self._check
        )
        self._thread = _OfThread()
        self._was_refused = False
        with translated(), self.connect() as connection:
            if migrates:
                migrate(connection)
            elif missing(connection):
                raise StoreError("the database does not have this release's tables; `triage run` makes them")
        self._pool.open()

    def close(self) -> None:
        """Give all connections back to the server."""
        self._pool.close()

    def connect(self) -> Connection:
        """Return a connection of its own, beside the pool; raises StoreError."""
        return connect(self._url)

    def place(self) -> str:
        """Return which database this is, without who uses it."""
        with self.reading() as connection:
            return f"the database {connection.info.dbname} on {connection.info.host}:{connection.info.port}"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Enter with a connection for statements that commit by themselves, or inside this thread's transaction.

        Raises:
            StoreError: the database refuses; DatabaseAway where it does not answer or takes nothing now.
        """
        bound = self._thread.connection
        try:
            with translated(), nullcontext(bound) if bound else self._pool.connection() as connection:
                yield connection
        except DatabaseAway:
            self._was_refused = True
            raise

    def probe(self, room: int) -> None:
        """Raise DatabaseAway where nothing can be written, once something was refused also where less room is free."""
        with self.apart(answer_s=ANSWER_S) as connection:
            connection.execute("UPDATE triage_leases SET token = token WHERE false")
            if self._was_refused:
                with connection.transaction(force_rollback=True):
                    connection.execute("CREATE TABLE triage_probe AS SELECT %s::bytea AS bytes", [os.urandom(room)])
                self._was_refused = False

    @contextmanager
    def apart(self, *, answer_s: float) -> Iterator[Connection]:
        """Enter with a connection outside of this thread's transaction and fences, for what takes no time.

        Raises:
            StoreError: as `reading`; also where there is no answer in `answer_s`, as of a server that is frozen.
        """
        with translated(), self._pool.connection(answer_s) as connection, _cut_after(answer_s, connection):
            yield connection

    def _check(self, connection: Connection) -> None:
        """Look at all idle connections once the server has cut one; raises psycopg.Error where it was this one.

        A connection is cut where the server has said something unasked: to see that costs no round trip.
        """
        looking = select.poll()
        looking.register(connection.fileno(), select.POLLIN)
        if looking.poll(0):
            self._pool.check()
            ConnectionPool.check_connection(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Enter as with `reading`, to write: one statement, or as many as one transaction where it is fenced.

        Raises:
            LeaseLost: this thread is fenced, and another process has the lease.
        """
        fences = self._thread.fences
        with self.reading() as connection, connection.transaction() if fences else nullcontext():
            for fence in fences:
                _keep(connection, fence)
            yield connection

    def read(self, query: LiteralString, given: Parameters = ()) -> list[tuple[Any, ...]]:
        """Return the rows of one query; raises StoreError as `reading`."""
        with self.reading() as connection:
            return connection.execute(query, given).fetchall()

    def write(self, statement: LiteralString, given: Parameters = ()) -> list[tuple[Any, ...]]:
        """Carry out one statement and return what it says with RETURNING; raises StoreError as `writing`."""
        with self.writing() as connection:
            done = connection.execute(statement, given)
            return done.fetchall() if done.description else []

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Enter with a connection on which all that this thread writes is committed together, or not at all."""
        with self.writing() as connection, connection.transaction():
            outer, self._thread.connection = self._thread.connection, connection
            try:
                yield connection
            finally:
                self._thread.connection = outer

    @contextmanager
    def fenced(self, fence: Fence) -> Iterator[None]:
        """Refuse what this thread writes inside, once the lease is another's."""
        outer = self._thread.fences
        self._thread.fences = (*outer, fence)
        try:
            yield
        finally:
            self._thread.fences = outer


def connect(url: str) -> Connection:
    """Return a connection to a database, whatever is in it; no error repeats anything of the address.

    Raises:
        ConfigError: it is not an address.
        DatabaseAway: nobody answers there, or whoever does lets nobody in.
    """
    try:
        return psycopg.connect(url, **_SETTINGS)
    except psycopg.OperationalError as error:
        raise DatabaseAway(_UNREACHABLE) from error
    except psycopg.ProgrammingError as error:
        raise ConfigError(f"{URL} is not the address of a database; it looks like {EXAMPLE}") from error


def connect_first(url: str) -> Connection:
    """Return a connection as `connect` does, where nobody knows yet whether the address is right.

    All other threads stand still while a server that does not answer is waited for.

    Raises:
        ConfigError: it is not an address, or whoever takes connections there refuses this one.
        DatabaseAway: nobody answers there, or takes connections.
    """
    with suppress(psycopg.ProgrammingError):  # `connect` says what is no address
        server = make_conninfo(url, connect_timeout=int(ANSWER_S)).encode()
        if psycopg.pq.PGconn.ping(server) != psycopg.pq.Ping.OK:  # first: one that begins only now refuses nobody
            raise DatabaseAway(_UNREACHABLE)
    try:
        return connect(url)
    except DatabaseAway as error:
        refused = "the database refuses the login: check user, password and database name in"
        raise ConfigError(f"{refused} {URL}; see the server's log") from error


@contextmanager
def _cut_after(seconds: float, connection: Connection) -> Iterator[None]:
    """Break a connection unless the block ends in time: what waits for the server's answer in it is refused then."""
    line = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)  # whatever its family is

    def cut() -> None:
        with suppress(OSError):  # it is cut, or closed
            line.shutdown(socket.SHUT_RDWR)

    with line:
        limit = threading.Timer(seconds, cut)
        limit.start()
        try:
            yield
        finally:
            limit.cancel()


def _keep(connection: Connection, fence: Fence) -> None:
    """Keep a lease where it is until the transaction ends; raises LeaseLost where it is another's already."""
    held = connection.execute(
        "SELECT 1 FROM triage_leases "
        "WHERE namespace = %s AND name = %s AND token = %s AND holder IS NOT NULL FOR SHARE",
        fence,
    ).fetchone()
    if held is None:
        raise LeaseLost(f"another process took over {fence.name!r} while this one did not answer; nothing was written")


@contextmanager
def translated() -> Iterator[None]:
    """Raise what the database refuses as an error of ours; its words may hold values, so they are not repeated."""
    try:
        yield
    except psycopg.Error as error:
        code = error.sqlstate or "no answer"
        if isinstance(error, psycopg.OperationalError) or code == _READ_ONLY:
            advice = "check that the server runs, takes connections and has free space"
            raise DatabaseAway(f"the database cannot be used now ({code}); {advice}") from error
        refused = Violated if isinstance(error, psycopg.IntegrityError) else StoreError
        raise refused(f"the database refused a statement ({code}); see the server's log") from error


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
