"""The bot of a crash test: in a fresh home, its state in files or in a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.slack_server import LocalSlack
from tests.crashes.life import Life
from tests.crashes.proxy import withholding_proxy
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import SHOP
from tests.postgres import new_database


@pytest.fixture
def engine() -> str:
    """Files, unless a test says otherwise: its parameter of this name takes the place of this one."""
    return "files"


@pytest.fixture
def database(engine: str) -> str | None:
    """The address of an empty database, None for files."""
    return None if engine == "files" else new_database()


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, database: str | None) -> Iterator[Life]:
    """A fresh home and a small codebase, behind the proxy."""
    config = write_config(tmp_path / "home", make_repo(tmp_path / "shop", SHOP))
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config, database=database)
        yield life
        life.close()
