"""What the promises ask for beside a workspace: a small codebase, and a folder with an empty data directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitrepo import make_repo
from tests.journeys.shop import SHOP
from tests.promises.shell import Shell


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small codebase with three answers in it."""
    return make_repo(tmp_path / "shop", SHOP)


@pytest.fixture
def shell(tmp_path: Path, shop: Path) -> Shell:
    """A terminal in a folder with a triage.yml over the small codebase."""
    return Shell(tmp_path / "place", shop)
