"""What operators type beside a bot that has answered a question."""

from __future__ import annotations

import json
import os

import pytest

from blocks import ids
from demo.headless import shown_text
from demo.workspace import ANA, CHLOE, HELP
from tests import fork_server
from tests.journeys.office import Office

pytestmark = pytest.mark.journey


def typed(office: Office, *words: str) -> str:
    """Type a command of the terminal."""
    done = fork_server.run("bot", *words, cwd=office.home, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_answered_question_is_measured_explained_and_tested_again(office: Office) -> None:
    """The reply counts, in Slack and on the terminal; its chain is shown; a backtest names the approved file."""
    ts = office.ask("Where is MAX_ATTEMPTS set for retries?")
    office.click(office.draft(ts), ids.APPROVE)
    office.reply(ts)
    office.closed(ts)
    office.ask("lunch at noon", user=ANA.user_id)
    journal = office.home / "events-classified.ndjson"
    office.control.wait_for(lambda: "lunch at noon" in journal.read_text(), "the message to be sorted")
    office.control.command(CHLOE.user_id, HELP.channel_id, "metrics")
    office.control.wait_for(
        lambda: any("AC-11" in shown_text(m) for m in office.control.messages(HELP.channel_id)), "the numbers"
    )

    said = json.loads(typed(office, "metrics", "--json", "--home", str(office.home)))
    assert (said["counts"]["replies"], said["counts"]["approved"]) == (1, 1)
    assert said["criteria"]["AC-04"]["ok"] is True
    assert said["criteria"]["AC-10"]["value"] > 0

    link = f"https://demo.slack.com/archives/{HELP.channel_id}/p{ts.replace('.', '')}"
    chain = typed(office, "why", link, "--home", str(office.home))
    steps = ("actionable: is a question", "draft of round 1", "approved by", "posted as", "Next: triage verify")
    places = [chain.index(words) for words in steps]
    assert places == sorted(places)

    again = json.loads(typed(office, "backtest", str(office.home), "--json", "--home", str(office.home)))
    assert (again["messages"], again["questions"], again["own_drafts"]["approved"]) == (2, 1, 1)
    assert again["standings"]["right"] == 1
