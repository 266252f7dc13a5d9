"""What one team asks and spends is its own matter: the other one is answered all the same."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, ENG, HELP
from tests.hands import Control
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, Company
from tests.journeys.home_files import list_files
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.journeys.test_models import KEY, SCRIPTS
from tests.model_server import ModelServer, Script, Turn, load_script

STORM = 200
HANDS = 4
GATE_LIMIT_S = 500.0
TEAMS = {"payments": PAYMENTS, "platform": PLATFORM}


class HeldModels(ModelServer):
    """A provider that answers nobody until `gate` is set."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.gate = threading.Event()
        self.opened: list[str] = []
        """How each investigation began, in the order in which they did."""

    def next_turn(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Turn, dict[str, int]]:
        """Note a conversation that begins, and wait."""
        if len(body["messages"]) == 1:
            self.opened.append(json.dumps(body["messages"][0]["content"]))
        self.gate.wait(GATE_LIMIT_S)
        return super().next_turn(body, headers)


@pytest.fixture
def models() -> Iterator[HeldModels]:
    """A provider that holds everybody up."""
    with HeldModels(load_script(SCRIPTS / "pass.yml")) as server:
        yield server
        server.gate.set()


def open_company(
    slack: LocalSlack, hands: Control, folder: Path, models: ModelServer, teams: dict[str, Any], **more: Any
) -> Company:
    """Return a bot that asks these models."""
    provider = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url}
    return Company(slack, hands, folder / "home", folder / "shop", teams, environment=provider, **more)


def waiting(company: Company, team: str) -> int:
    """Return how many jobs of a team wait for a worker."""
    return len(list_files(company.home / "teams" / team / "queue", "*.json"))


def test_a_storm_of_one_team_delays_the_other_by_at_most_one_job(
    company_server: LocalSlack, hands: Control, models: HeldModels, shop: Path
) -> None:
    """One worker: as soon as the job that runs has ended, it takes up what the other team asked after all of them."""
    patient = {"max_concurrent_sessions": 1, "investigator": {"stall_s": None}}
    company = open_company(company_server, hands, shop.parent, models, TEAMS, **patient)
    company.start()
    try:
        with ThreadPoolExecutor(HANDS) as people:
            list(people.map(lambda n: hands.say(HELP.channel_id, CHLOE.user_id, f"{RETRIES} Case {n}?"), range(STORM)))
        hands.wait_for(lambda: waiting(company, "payments") >= STORM - 1, "the storm to be queued")
        asked = hands.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
        hands.wait_for(lambda: waiting(company, "platform"), "platform's question to be queued")
        models.gate.set()
        company.card(PLAT_OPS, asked, ENG, offering=ids.APPROVE)
        before = [TIMEOUTS in one for one in models.opened].index(True)
        assert before <= 2, "at most one job, whose draft is checked in a conversation of its own"
    finally:
        company.bot.stop()


def test_a_team_that_has_spent_its_budget_stops_alone_and_says_so(
    company_server: LocalSlack, hands: Control, models: HeldModels, shop: Path
) -> None:
    """Its card names the limit, no model is asked for it, and the other team has its draft."""
    models.gate.set()
    teams = {**TEAMS, "payments": {**PAYMENTS, "budget": {"per_day_usd": 20}}}
    company = open_company(company_server, hands, shop.parent, models, teams)
    days = [datetime.now(UTC) + timedelta(days=days) for days in range(2)]  # midnight may come meanwhile
    spent = [{"at": day.isoformat(), "run_id": "before", "model": "m", "cost_usd": 20.0} for day in days]
    company.start()
    try:
        (company.home / "teams" / "payments" / "spend.ndjson").write_text(
            "".join(f"{json.dumps(one)}\n" for one in spent)
        )
        pay = hands.say(HELP.channel_id, CHLOE.user_id, SESSIONS)
        plat = hands.say(ENG.channel_id, CHLOE.user_id, SESSIONS)
        stopped = company.card(PAY_OPS, pay, HELP, showing="spend limit of $20.00 for today reached")
        assert ids.APPROVE not in json.dumps(stopped)
        company.card(PLAT_OPS, plat, ENG, offering=ids.APPROVE)
        assert "spend limit" not in "".join(map(shown_text, hands.messages(PLAT_OPS.channel_id)))
        assert company.replies(pay, HELP) == company.replies(plat, ENG) == []
    finally:
        company.bot.stop()
