"""Killed at every step of a reply that nobody approved, started again: said once, shown once, or left to a human."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.questions.autonomy_record import Arming
from bot.ports.collections import AUTONOMY, SingleDocument
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, ENG, OPS
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import CLOSED, INTENT, LOGGED, POSTED, Step, met
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import SHOP
from tests.journeys.test_models import KEY, SCRIPTS
from tests.model_server import ModelServer, load_script

ASKED = f"<@{DEMO.bot_id}> Where in the code are session cookies signed?"
RECORDED = "put auto_replies "
RECORDED_ONLY = after(RECORDED)
AUDITED = rf"post {OPS.channel_id} .*triage_audit:"
STEPS = (
    Step(name="auto: recorded, no intent", kill=RECORDED_ONLY, left={"intent": False, "replies": 0}),
    Step(name="auto: intent saved", kill=after(INTENT), left={"intent": True, "replies": 0}),
    Step(name="auto: posted, not answered", withheld=POSTED, left={"intent": True, "replies": 1}),
    Step(name="auto: before the reply log", kill=before(LOGGED), left={"replies": 1, "logged": 0}),
    Step(name="auto: closed", kill=after(CLOSED), left={"status": "closed", "replies": 1}),
    Step(name="auto: audit card, not answered", withheld=AUDITED, left={"replies": 1, "logged": 1}),
)


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, database: str | None) -> Iterator[Life]:
    """A home with four good weeks, armed, behind the proxy; its models are sure and right."""
    config = write_config(tmp_path / "home", make_repo(tmp_path / "shop", SHOP), autonomy="on", working_hours=AT_WORK)
    with withholding_proxy(slack.api_url) as proxy, ModelServer(load_script(SCRIPTS / "pass.yml")) as models:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url}
        life = Life(slack, control, proxy, config, environment=environment, database=database)
        store, now = life.kept.store, datetime.now(UTC)
        live_four_weeks(store, now, team=DEMO.team_id, channel=ENG.channel_id)
        armed = Arming(armed_by=ANA.user_id, armed_at=now)
        SingleDocument(store.documents, AUTONOMY).update(armed.model_dump(mode="json"))
        yield life
        life.close()


@pytest.mark.parametrize(("engine", "step"), met(STEPS) + met(STEPS, engine="postgres"))
def test_a_reply_without_a_human_is_said_once_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """What Slack has not got by then waits for an approver; either way there is one reply and one line of it."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.ask(ASKED)
    life.dies(step.name, decision="none")
    assert {name: life.left()[name] for name in step.left} == step.left
    life.start()
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    closed = life.archived()[0]
    is_auto = closed["resolution"] == "auto"
    wanted = 1 if is_auto else 0
    life.control.wait_for(lambda: len(audit_cards(life)) == wanted, f"{wanted} audit cards", channel=OPS.channel_id)
    life.stop()
    left = life.left()
    assert (left["cards"], left["replies"], left["logged"], left["archived"]) == (1, 1, 1, 1)
    assert closed["approved_by"] == (None if is_auto else ANA.user_id)
    (line,) = life.kept.records("replies")
    assert line.get("auto", False) is is_auto
    is_first = engine == "postgres" and step.kill == RECORDED_ONLY  # the approver, before a dead one's job is taken up
    assert is_auto is (step.name != "auto: intent saved" and not is_first)


def audit_cards(life: Life) -> list[str]:
    """Return what the audit cards show."""
    shown = (shown_text(message) for message in life.control.messages(OPS.channel_id))
    return [text for text in shown if "Sent automatically* in" in text]
