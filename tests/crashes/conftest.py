"""Where the bot of a crash test keeps its state: in files, or in a database."""

from __future__ import annotations

import pytest

from tests.postgres import new_database


@pytest.fixture
def engine() -> str:
    """Files, unless a test says otherwise: its parameter of this name takes the place of this one."""
    return "files"


@pytest.fixture
def database(engine: str) -> str | None:
    """The address of an empty database, None for files."""
    return None if engine == "files" else new_database()
