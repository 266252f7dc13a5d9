"""What the journeys add: a page in Chromium, and the marks by which a run can leave journeys out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from demo.page_server import PageServer
from demo.slack_server import LocalSlack
from demo.workspace import ANA, HELP
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.browser import SlackPage, open_browser, open_page
from tests.journeys.company import COMPANY
from tests.journeys.office import Office
from tests.journeys.shop import SHOP
from tests.workspaces import empty


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands here as a journey, and what asks for the page as a browser test."""
    for item in items:
        if item.nodeid.startswith("tests/journeys/"):
            item.add_marker("journey")
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker("browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a file; skipped where there is no Chromium."""
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(slack: LocalSlack, browser: Browser) -> Iterator[SlackPage]:
    """The workspace's page."""
    with (
        PageServer(slack.url, actor=ANA.user_id, channel=HELP.channel_id) as server,
        open_page(browser, server.url) as page,
    ):
        yield page


@pytest.fixture(scope="session")
def company_server(slack_binary: Path) -> Iterator[LocalSlack]:
    """The throw-away workspace of two teams."""
    with LocalSlack(slack_binary, COMPANY, env=os.environ) as server:
        yield server


@pytest.fixture
def hands(company_server: LocalSlack) -> Iterator[Control]:
    """The hands of its people, in an empty workspace."""
    with Control(company_server.url) as control:
        empty(control)
        yield control


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where the screenshots go: to the folder TRIAGE_SCREENSHOTS names, else away with the rest."""
    return Path(os.environ.get("TRIAGE_SCREENSHOTS") or tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small codebase with three answers in it."""
    return make_repo(tmp_path / "shop", SHOP)


@pytest.fixture
def office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Office]:
    """The ordinary bot, connected and at work."""
    office = Office(slack, control, tmp_path / "home", shop)
    office.bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    yield office
    office.bot.stop()
