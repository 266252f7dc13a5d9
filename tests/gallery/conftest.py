"""One page and one bot for all scenes of the gallery."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import ViewportSize

from demo.page_server import PageServer
from demo.slack_server import LocalSlack
from demo.workspace import ANA, OPS
from tests.gallery.stage import Stage, open_stage
from tests.hands import Control
from tests.journeys.browser import open_browser, open_page
from tests.workspaces import empty

SIZE: ViewportSize = {"width": 960, "height": 1_600}
"""Wide enough for Slack's column of messages, high enough for the longest view."""


@pytest.fixture(scope="module")
def opened_stage(slack_server: LocalSlack) -> Iterator[Stage]:
    """The workspace's page before Ana; skipped where there is no Chromium."""
    with open_browser() as browser, Control(slack_server.url) as control:
        empty(control)
        server = PageServer(slack_server.url, actor=ANA.user_id, channel=OPS.channel_id)
        with (
            server,
            open_page(browser, server.url, size=SIZE) as page,
            open_stage(slack_server, control, page) as on,
        ):
            yield on


@pytest.fixture
def stage(opened_stage: Stage) -> Iterator[Stage]:
    """The stage with nothing on it."""
    yield opened_stage
    opened_stage.clear()
