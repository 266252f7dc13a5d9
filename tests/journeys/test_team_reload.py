"""Teams come and go at bad moments: what cannot be opened leaves no trace, and a moved channel is answered once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.casework.ops_channel import OpsLines
from demo.slack_server import LocalSlack
from demo.workspace import ENG
from tests.hands import Control
from tests.journeys.company import PAY_OPS, PAYMENTS, PLATFORM, Company
from tests.workspaces import empty

TEAMS = {"payments": PAYMENTS, "platform": PLATFORM}


@pytest.fixture
def company(company_server: LocalSlack, tmp_path: Path, shop: Path) -> Iterator[Company]:
    """Both teams at work, in an empty workspace."""
    with Control(company_server.url) as hands:
        empty(hands)
        company = Company(company_server, hands, tmp_path / "home", shop, TEAMS)
        company.start()
        yield company
        company.bot.stop()


def test_a_team_that_cannot_be_opened_leaves_nothing_behind(company: Company, tmp_path: Path) -> None:
    """Neither a name in the lists of the process, nor the end of the bot; those that run are told why."""
    before = _lines()
    company.reload({**TEAMS, "third": {"ops_channel": ENG.channel_id}, "platform": {**PLATFORM, "channels": []}})
    company.told(PAY_OPS, "is not private")
    company.reload({**TEAMS, "third": {"ops_channel": "C0NOWHERE"}})
    company.told(PAY_OPS, "channel_not_found")
    assert _lines() == before
    (tmp_path / "handbook").mkdir()
    handbook = {"handbook": {"path": str(tmp_path / "handbook")}}
    third = {"ops_channel": PAY_OPS.channel_id, "codebases": ["handbook"]}
    company.reload({**TEAMS, "third": third}, codebases=handbook)
    company.told(PAY_OPS, "handbook is no git checkout")
    assert list(company.bot.teams.by_name()) == list(TEAMS)


def test_only_its_owner_can_look_into_the_data_of_a_team(company: Company) -> None:
    """Whatever the umask says."""
    folders = [company.home / "teams", *(company.home / "teams").iterdir()]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700] * 3


def _lines() -> int:
    """Return how many ops channels wait for lines."""
    gc.collect()
    return sum(type(one) is OpsLines for one in gc.get_objects())
