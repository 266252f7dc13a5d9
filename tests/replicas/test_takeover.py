"""Replicas over one database: each message, click and duty is one replica's, and another's when that dies."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import find_element
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, HELP
from tests.gitrepo import make_repo
from tests.hands import Control, Json
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.replicas.fleet import Fleet


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


def home_of(control: Control) -> Json:
    """Return Ana's page as it was published last."""
    pages: dict[str, Json] = control.modals.snapshot()["homeViews"].get(ANA.user_id) or {}
    return next(iter(pages.values()), {})


def click_on_page(control: Control, action: Json) -> None:
    """Click on Ana's page as the browser does; the control API knows of clicks on messages only."""
    with control.modals._connected() as (socket, state):
        [app] = state["homeViews"][ANA.user_id]
        where = {"channel": "", "messageTs": "", "user": ANA.user_id, "appId": app}
        socket.send(json.dumps({"t": "block_action", "action": {"type": "button", **action}, **where}))


def test_a_question_is_answered_once_whoever_dies(fleet: Fleet, control: Control) -> None:
    """Two replicas hear; the card and the reply come once, before and after one of them is killed.

    The first draft is approved on App Home, which either of them may have shown, and either of them hears the click.
    """
    fleet.start(1, 2)
    third = control.say(HELP.channel_id, CHLOE.user_id, TIMEOUTS)
    fleet.draft(third)
    control.open_home(ANA.user_id)
    approve = control.wait_for(lambda: find_element(home_of(control), ids.APPROVE), "the draft on the page")
    click_on_page(control, approve.click_fields())
    control.wait_for(lambda: fleet.replies(third), "the reply that was approved on the page")
    control.wait_for(
        lambda: not find_element(home_of(control), ids.APPROVE), "the page to show no draft", timeout_s=120
    )
    first = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
    card = fleet.draft(first)
    fleet.kill(1)
    fleet.click(card, ids.APPROVE)
    control.wait_for(lambda: fleet.replies(first), "the reply")
    second = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    fleet.click(fleet.draft(second), ids.APPROVE)
    control.wait_for(lambda: fleet.replies(second), "the second reply")
    control.wait_for(lambda: all(map(fleet.has_one_of_each, (first, second, third))), "one card and one reply for each")
    fleet.kill(2, signal.SIGTERM)
    assert "stopped; nothing was lost." in fleet.log(2)
