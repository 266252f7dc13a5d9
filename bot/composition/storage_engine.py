"""Where state is kept: TRIAGE_DATABASE_URL names a database that replicas share; without it, in files."""

from __future__ import annotations

import atexit
from pathlib import Path

from pydantic import SecretStr

from bot.adapters.storage.files.file_engine import FileEngine
from bot.config.environment import Environment, process_home
from bot.errors import ConfigError
from bot.ports import Engine, Store


def open_engine(environment: Environment) -> Engine:
    """Return the engine of a process; `environment.home` may be that of one of its teams.

    Raises:
        ConfigError: the driver is not installed.
        StoreError: the database does not answer, or (NewerSchema) a later release wrote it.
    """
    home = process_home(environment.home)
    if environment.database_url is None:
        return FileEngine(home)
    return _open_database(environment.database_url.get_secret_value(), home)


def open_store(environment: Environment, *, is_reader: bool = False) -> Store:
    """Return what the team of a data directory keeps, for a command; raises as `open_engine` does."""
    return _once(environment).store(environment.home, is_reader=is_reader)


def _once(environment: Environment) -> Engine:
    """Return the engine of a command, which may look into several teams, and let go of it when the command ends."""
    key = environment.database_url, process_home(environment.home)
    if key not in _OPEN:
        _OPEN[key] = open_engine(environment)
        atexit.register(_OPEN[key].close)
    return _OPEN[key]


_OPEN: dict[tuple[SecretStr | None, Path], Engine] = {}


def _open_database(url: str, home: Path) -> Engine:
    try:
        from bot.adapters.storage.postgres.database import Database
        from bot.adapters.storage.postgres.postgres_engine import PostgresEngine
    except ImportError as error:
        raise ConfigError(
            f"TRIAGE_DATABASE_URL is set, and {error.name} is not installed; type `pip install 'triage-bot[postgres]'`"
        ) from error
    return PostgresEngine(Database(url), home)
