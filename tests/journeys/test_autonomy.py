"""Replies without a human, end to end: a real local-slack, a scripted provider, real clicks; four weeks on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from blocks import ids
from bot.adapters.storage.files.file_engine import FileStore
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.hands import Control, Json
from tests.journeys.browser import SlackPage
from tests.journeys.home_files import Journal
from tests.journeys.test_models import SCRIPTS, ModelOffice
from tests.model_server import ModelServer, load_script

ASKED = f"<@{DEMO.bot_id}> Where in the code are session cookies signed?"

Open = Callable[..., ModelOffice]


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Open]:
    """Opens an office with four good weeks behind it, whose models are sure and right."""
    with ExitStack() as stack:

        def opened(**settings: Any) -> ModelOffice:
            home = tmp_path / "home"
            live_four_weeks(FileStore(home), datetime.now(UTC), team=DEMO.team_id, channel=ENG.channel_id)
            server = stack.enter_context(ModelServer(load_script(SCRIPTS / "pass.yml")))
            office = ModelOffice(slack, control, home, shop, server.url, working_hours=AT_WORK, **settings)
            office.replies = Journal(home / "replies.ndjson")
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


def answered(office: ModelOffice, text: str) -> None:
    """Wait until a command was answered with that."""
    office.control.wait_for(
        lambda: any(text in shown_text(m) for m in office.control.messages(OPS.channel_id) if m.get("ephemeral_to")),
        f"an answer with {text!r}",
        channel=OPS.channel_id,
    )


def audit_card(office: ModelOffice, showing: str) -> Json:
    """Return the audit card once it says so."""

    def found() -> Json | None:
        cards = [m for m in office.control.messages(OPS.channel_id) if "Sent automatically* in" in shown_text(m)]
        return next((card for card in cards if showing in shown_text(card)), None)

    return office.control.wait_for(found, f"an audit card that says {showing!r}", channel=OPS.channel_id)


def test_an_armed_bot_answers_by_itself_and_is_taken_back(open_office: Open, page: SlackPage, pictures: Path) -> None:
    """An approver arms it on App Home; a mention is answered without a click; a click takes it back and it is off."""
    office = open_office(autonomy="on")
    office.control.command(CHLOE.user_id, HELP.channel_id, "metrics --arm")
    office.control.command(ANA.user_id, OPS.channel_id, "metrics --autonomy")
    answered(office, "48 decided drafts would have been sent without a human")
    page.act_as(ANA.real_name)
    home = page.open_home()
    expect(home).to_contain_text("technical question: 48 of 48 approved unchanged, 48 could have been sent")
    home.locator("select").last.select_option(label="Armed: send without a click")
    expect(home).to_contain_text(f"Automatic replies: armed by @{ANA.real_name}")
    page.screenshot(pictures / "trust.png")
    ts = office.ask(ASKED)
    reply = office.reply(ts)
    (line,) = office.replies.records()
    assert (line["auto"], line["approved_by"], line["posted_message_id"]) == (True, None, reply["ts"])
    office.card(ts, "Sent automatically")
    card = audit_card(office, "Nobody approved this reply")
    assert "sessions.py" in shown_text(card)
    office.click(card, ids.TAKE_BACK)
    audit_card(office, "Taken back")
    (withdrawn,) = office.posted(ts)
    assert withdrawn["ts"] == reply["ts"]
    assert "withdrew this automatic reply" in withdrawn["text"]
    office.control.wait_for(
        lambda: any("Automatic replies are off" in m["text"] for m in office.control.messages(OPS.channel_id)),
        "the ops channel to hear that it is off",
    )
    second = office.ask(ASKED, user=ANA.user_id)
    office.card(second, "Not sent automatically", offering=ids.APPROVE)
    assert len(list(office.replies.records())) == 1


def test_shadow_marks_the_card_and_a_human_decides(open_office: Open) -> None:
    """What would have been sent waits for its click as ever."""
    office = open_office(autonomy="shadow")
    ts = office.ask(ASKED)
    card = office.card(ts, "Would have been sent automatically", offering=ids.APPROVE)
    assert office.posted(ts) == []
    office.click(card, ids.APPROVE)
    office.reply(ts)
    (line,) = office.replies.records()
    assert (line["approved_by"], line.get("auto")) == (ANA.user_id, None)
