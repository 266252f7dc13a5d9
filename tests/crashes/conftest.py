"""Where the bot of a crash test keeps its state: in files, or in a database behind a proxy that can kill it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import new_database
from tests.replicas.database_proxy import DatabaseProxy


@pytest.fixture
def engine() -> str:
    """Files, unless a test says otherwise: its parameter of this name takes the place of this one."""
    return "files"


@pytest.fixture
def database(engine: str) -> Iterator[DatabaseProxy | None]:
    """The way to an empty database, None for files."""
    if engine == "files":
        yield None
        return
    proxy = DatabaseProxy(new_database())
    yield proxy
    proxy.close()
