"""Replicas over one database: each message, click and duty is one replica's, and another's when that dies."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.control import Control
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, HELP
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP
from tests.replicas.fleet import Fleet


@pytest.fixture
def fleet(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Fleet]:
    """Replicas that are all killed at the end."""
    fleet = Fleet(slack, control, tmp_path, make_repo(tmp_path / "shop", SHOP))
    yield fleet
    fleet.end()


def test_a_question_is_answered_once_whoever_dies(fleet: Fleet, control: Control) -> None:
    """Two replicas hear; the card and the reply come once, before and after one of them is killed."""
    fleet.start(1, 2)
    first = control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
    card = fleet.draft(first)
    fleet.kill(1)
    fleet.click(card, ids.APPROVE)
    control.wait_for(lambda: fleet.replies(first), "the reply")
    second = control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    fleet.click(fleet.draft(second), ids.APPROVE)
    control.wait_for(lambda: fleet.replies(second), "the second reply")
    for ts in (first, second):
        assert (len(fleet.cards(ts)), len(fleet.replies(ts))) == (1, 1)
    fleet.kill(2, signal.SIGTERM)
    assert "stopped; nothing was lost." in fleet.log(2)
