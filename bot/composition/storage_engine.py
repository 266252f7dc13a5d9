"""Opens the storage engine: the database that TRIAGE_DATABASE_URL names, which replicas share, else files."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileEngine
from bot.config.home import process_home
from bot.errors import ConfigError, StoreError, TriageError
from bot.ports import Documents, Engine, Store
from bot.ports.collections import EVENTS, MOVED, SingleDocument
from bot.ports.system import Replicas, Role
from bot.release import program_version

if TYPE_CHECKING:
    from pydantic import SecretStr

    from bot.adapters.storage.postgres.postgres_engine import PostgresEngine
    from bot.adapters.storage.postgres.postgres_leases import DatabaseReport
    from bot.config.environment import Environment

_OPENING = threading.Lock()
_IMPORTING = threading.Lock()
"""Of two threads that import the driver at once, one would see half of it."""

_OPEN: dict[tuple[SecretStr | None, Path], Engine] = {}


def open_engine(environment: Environment, role: Role | None = None) -> Engine:
    """Return the engine of a process; `environment.home` may be that of one of its teams.

    With `role` the process begins to work on the state, and says so before it reads any.

    Raises:
        ConfigError: the driver is not installed, or the state moved elsewhere.
        StoreError: the database does not answer, or (NewerSchema) a later release wrote it.
    """
    return _open(environment, migrates=True, role=role)


def open_store(environment: Environment, *, is_reader: bool = False) -> Store:
    """Return what the team of a data directory keeps, for a command; raises as `open_engine` does."""
    return _once(environment).store(environment.home, is_reader=is_reader)


def open_files(home: Path, *, is_reader: bool = False) -> Store:
    """Return what a data directory holds where there is no database; raises ConfigError where its state moved."""
    base = process_home(home)
    _refuse_moved(FileDocuments(base, is_reader=True), base)
    return FileEngine(base).store(home, is_reader=is_reader)


def open_replicas(environment: Environment) -> Replicas | None:
    """Return who works on the same state, for a command; raises as `open_engine` does."""
    return _once(environment).replicas


def open_database(url: str, home: Path, *, migrates: bool = True) -> PostgresEngine:
    """Return the engine over a database, wherever its state is; `home` is the data directory of this process.

    Raises:
        ConfigError: the driver is not installed, or the address is none.
        StoreError: the database does not answer, or (NewerSchema) a later release wrote it.
    """
    with _driver():
        from bot.adapters.storage.postgres.database import Database
        from bot.adapters.storage.postgres.postgres_engine import PostgresEngine
    return PostgresEngine(Database(url, migrates=migrates), home)


def look_at_database(environment: Environment) -> DatabaseReport | None:
    """Return how the database stands, and change nothing in it; None where there is none.

    Raises:
        ConfigError: the driver is not installed, or the address is none.
        StoreError: the database does not answer, or (NewerSchema) a later release wrote it.
    """
    url = environment.database_url
    return None if url is None else look_at_url(url.get_secret_value())


def look_at_url(url: str) -> DatabaseReport:
    """Return how the database at an address stands, and change nothing in it; raises as `look_at_database` does."""
    with _driver():
        from bot.adapters.storage.postgres.postgres_leases import look
    return look(url)


def _once(environment: Environment) -> Engine:
    """Return the engine of a command, which may look into several teams, and let go of it when the command ends."""
    key = environment.database_url, process_home(environment.home)
    with _OPENING:
        if key not in _OPEN:
            _OPEN[key] = _open(environment, migrates=False)
            atexit.register(_OPEN[key].close)
        return _OPEN[key]


def _open(environment: Environment, *, migrates: bool, role: Role | None = None) -> Engine:
    home = process_home(environment.home)
    if environment.database_url is None:
        _refuse_moved(FileDocuments(home, is_reader=True), home)
        return FileEngine(home)
    engine = open_database(environment.database_url.get_secret_value(), home, migrates=migrates)
    try:
        if role is not None:
            engine.replicas.beat(program_version(), role, timedelta())
        store = engine.store(home, is_reader=True)
        _refuse_moved(store.documents, home)
        _refuse_left_behind(store, home)
    except TriageError:
        with closing(engine), suppress(StoreError):
            engine.replicas.leave()
        raise
    return engine


@contextmanager
def _driver() -> Iterator[None]:
    """Import what needs the driver; raises ConfigError where it is not installed."""
    try:
        with _IMPORTING:
            yield
    except ImportError as error:
        raise ConfigError(
            f"TRIAGE_DATABASE_URL is set, and {error.name} is not installed; "
            f"type `{sys.executable} -m pip install 'triage-bot[postgres]'`"
        ) from error


def _refuse_left_behind(store: Store, home: Path) -> None:
    """Raise ConfigError where the data directory holds what the database does not: it would be forgotten."""
    if not (home / f"{EVENTS}.ndjson").exists():
        return
    if "to" not in SingleDocument(FileDocuments(home, is_reader=True), MOVED).read():
        raise ConfigError(
            f"{home} holds state that is not in the database of TRIAGE_DATABASE_URL; to move it there type "
            "`triage migrate --to postgresql`, to begin without it set TRIAGE_HOME to an empty directory"
        )
    if next(store.journal(EVENTS).newest_first(), None) is None:
        raise ConfigError(
            f"the database of TRIAGE_DATABASE_URL does not hold what was in {home}: the move was cut off, or this is "
            "another database. Set the right address, or type `triage migrate --to postgresql` again"
        )


def _refuse_moved(documents: Documents, home: Path) -> None:
    """Raise ConfigError for the copy that `triage migrate` left behind: working on it would say things twice."""
    mark = SingleDocument(documents, MOVED).read()
    if mark.get("unfinished"):
        raise ConfigError(f"{home} holds a copy that was not finished; remove it and type `triage migrate` again")
    if "to" not in mark:
        return
    moved = f"moved to {mark['to']} on {str(mark.get('at'))[:10]}"
    if isinstance(documents, FileDocuments):
        raise ConfigError(
            f"the state of {home} {moved}; set TRIAGE_DATABASE_URL to its address. "
            "If it holds nothing, the move was cut off: type `triage migrate --to postgresql` again"
        )
    raise ConfigError(f"the state of the database {moved}; set TRIAGE_HOME to that and leave TRIAGE_DATABASE_URL out")
