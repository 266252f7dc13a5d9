"""Killed at every named step of a question in direct messages: one line, one card, in its place."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk import WebClient

from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, OPS, DemoUser
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.steps import CARD_SAVED, OPENED, Step, met
from tests.hands import Json
from tests.journeys.shop import SESSIONS

LINE = r"post \S+ .*triage_told:"
STEPS = (
    Step(name="direct: opened, nobody told", kill=after(OPENED)),
    Step(name="direct: told, not answered", withheld=LINE),
    Step(name="direct: card posted, ts not saved", kill=before(CARD_SAVED)),
)


def marked(life: Life, channel: str, mark: str) -> list[Json]:
    """Return the messages of a channel with a block whose id begins so."""
    found = life.control.messages(channel)
    return [m for m in found if any(str(b.get("block_id")).startswith(mark) for b in m.get("blocks") or [])]


@pytest.mark.full
@pytest.mark.parametrize(("engine", "step"), met(STEPS))
@pytest.mark.parametrize("by", [ANA, CHLOE], ids=["approver", "asker"])
def test_a_question_to_the_bot_alone_gets_one_line_and_one_card(
    slack: LocalSlack, life: Life, engine: str, step: Step, by: DemoUser, record_property: Any
) -> None:
    """Wherever the bot dies: an approver's card in place, anybody else's in the ops channel."""
    is_approver = by is ANA
    if is_approver and step.withheld == LINE:
        pytest.skip("an approver is told no line")
    record_property("crash_step", f"{engine}: {step.name}")
    client = WebClient(DEMO.bot_token, base_url=slack.api_url)
    channel = str(client.conversations_open(users=by.user_id)["channel"]["id"])
    life.start(step.kill, step.withheld)
    life.control.say(channel, by.user_id, SESSIONS)
    life.dies(step.name, decision="none")
    life.start()
    life.control.wait_for(
        lambda: [one for one in life.kept.documents("threads") if one["status"] == "pending-user" and one["card_ts"]],
        "the draft",
    )
    life.stop()
    assert len(marked(life, channel, "triage_told:")) == (0 if is_approver else 1)
    cards = {place: len(marked(life, place, "triage_card:")) for place in (channel, OPS.channel_id)}
    assert cards == {channel: int(is_approver), OPS.channel_id: int(not is_approver)}
