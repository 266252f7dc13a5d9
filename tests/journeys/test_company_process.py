"""The bot of several teams as a process of its own: what SIGHUP takes over, and what a kill leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.control import Control
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, ENG, HELP
from tests.gitrepo import git, make_repo
from tests.journeys.company import COMPANY, PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, CompanyProcess
from tests.journeys.shop import RETRIES, SESSIONS
from tests.journeys.test_codebases import INFRA, WORKERS

pytestmark = pytest.mark.timeout(240)

TEAMS = {"payments": PAYMENTS, "platform": PLATFORM}


@pytest.fixture(scope="module")
def company_server(slack_binary: Path) -> Iterator[LocalSlack]:
    """The throw-away workspace of two teams."""
    with LocalSlack(slack_binary, COMPANY, env=os.environ) as server:
        yield server


@pytest.fixture
def company(company_server: LocalSlack, tmp_path: Path, shop: Path) -> Iterator[CompanyProcess]:
    """A bot that is not started yet, in an empty workspace; beside the shop there is infra."""
    make_repo(tmp_path / "infra", INFRA)
    with Control(company_server.url) as hands:
        hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the last test's bot to leave", timeout_s=30)
        hands.reset()
        yield CompanyProcess(hands, company_server, tmp_path / "home", shop)


def _picking(*names: str) -> dict[str, Any]:
    """Return payments, whose channel picks these codebases."""
    return {**PAYMENTS, "channels": [{"chat_id": HELP.channel_id, "name": "help", "codebases": list(names)}]}


def test_what_a_channel_or_a_team_picks_changes_at_a_reload(company: CompanyProcess, tmp_path: Path) -> None:
    """The next question is answered from the codebases that are picked by then."""
    code = {name: {"path": str(tmp_path / name)} for name in ("shop", "infra")}
    with company.running({**TEAMS, "payments": _picking("shop")}, codebases=code) as process:
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, WORKERS)
        company.card(PAY_OPS, ts, HELP, showing="needs context")
        told = "Questions in #help are about infra from now on."
        company.reload(process, told, {**TEAMS, "payments": _picking("infra")}, codebases=code)
        company.told(PAY_OPS, told)
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        company.card(PAY_OPS, ts, HELP, showing="needs context")
        own = {**TEAMS, "payments": {**PAYMENTS, "codebases": ["shop"]}}
        company.reload(
            process, "are about all codebases of the team from now on. Codebases now: shop.", own, codebases=code
        )
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        assert "shop/retry.py:" in shown_text(company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE))


def test_a_reload_clones_what_has_an_address_and_goes_on_without_what_has_a_bad_one(
    company: CompanyProcess, tmp_path: Path
) -> None:
    """The first question after it waits for the clone; of the other the ops channels hear why, once."""
    git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "infra"), "infra.git")
    shop = {"shop": {"path": str(tmp_path / "shop")}}
    infra = {"infra": {"url": f"file://{tmp_path / 'infra.git'}"}}
    lost = {"lost": {"url": f"file://{tmp_path / 'lost.git'}"}}
    with company.running(TEAMS, codebases=shop) as process:
        company.reload(process, "Codebases now: shop, infra.", TEAMS, codebases={**shop, **infra})
        ts = company.control.say(HELP.channel_id, CHLOE.user_id, WORKERS)
        assert "infra · deploy/workers.py:" in shown_text(company.card(PAY_OPS, ts, HELP, offering=ids.APPROVE))
        company.reload(process, "Codebases now: shop, lost.", TEAMS, codebases={**shop, **lost})
        for ops in (PAY_OPS, PLAT_OPS):
            company.told(ops, "lost cannot be cloned: ")
        ts = company.control.say(ENG.channel_id, CHLOE.user_id, RETRIES)
        assert "shop · shop/retry.py:" in shown_text(company.card(PLAT_OPS, ts, ENG, offering=ids.APPROVE))
        company.reload(process, "Codebases now: shop.", TEAMS, codebases=shop)
