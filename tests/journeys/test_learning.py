"""What people make of a draft is remembered on a click, met by the next question, and checked when the code changes."""

from __future__ import annotations

import json
from pathlib import Path

from blocks import ids
from demo.control import Control, text_value
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE
from tests.journeys.home_files import list_files
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS
from tests.journeys.test_models import SCRIPTS, ModelOffice
from tests.model_server import ModelServer, load_script

SIMILAR = "Where are session cookies signed, and how are they verified?"


def dismissed(office: Office, control: Control, question: str, reason: str) -> str:
    """Have a draft dismissed for a reason; returns the question's ts."""
    ts = office.ask(question)
    office.click(office.draft(ts), ids.DISMISS)
    control.wait_for(control.modals.current, "the dialogue")
    control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value(reason)}})
    return ts


def remembered(office: Office, control: Control, ts: str, words: str | None = None) -> Path:
    """Have the lesson of a closed thread kept, in other words if given; returns its file."""
    office.click(office.card(ts, offering=ids.REMEMBER), ids.REMEMBER)
    control.wait_for(control.modals.current, "the dialogue")
    values = {ids.LESSON: {ids.INPUT: text_value(words)}} if words else {}
    assert control.modals.submit(ANA.user_id, values) == {}
    card = office.card(ts, "remembered as `memory/")
    assert find_element(card, ids.REMEMBER) is None
    [path] = list_files(office.home / "memory", "*.md")
    return path


def test_a_dismissal_is_remembered_on_a_click_and_met_by_the_next_question(office: Office, control: Control) -> None:
    """Nothing is kept before; the next card shows the reason beside the evidence, and the reply does not."""
    ts = dismissed(office, control, SESSIONS, "sessions moved to the gateway, ask the platform team")
    office.card(ts, offering=ids.REMEMBER)
    assert not list_files(office.home / "memory", "*.md")
    path = remembered(office, control, ts)
    assert "sessions moved to the gateway" in path.read_text()
    card = office.draft(office.ask(SIMILAR))
    assert "sessions moved to the gateway" in shown_text(card)
    assert path.name in shown_text(card)


def test_an_edit_is_remembered_in_the_words_of_who_read_it(office: Office, control: Control) -> None:
    """The dialogue shows what became what; what is submitted is what is kept; the button is gone."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value("HMAC-SHA256, keys rotate monthly.")}})
    office.reply(ts)
    path = remembered(office, control, ts, "# Session cookies\n\nSay that keys rotate monthly.")
    assert path.name.startswith("corrected-")
    assert "Say that keys rotate monthly." in path.read_text()
    assert '"path": "shop/sessions.py"' in path.read_text()


def test_an_approved_draft_offers_nothing_and_strangers_keep_nothing(office: Office, control: Control) -> None:
    """A draft that people posted as it was teaches nothing; Chloe may not approve, so she sees no draft either."""
    ts = office.ask(SESSIONS)
    office.click(office.draft(ts), ids.APPROVE)
    assert find_element(office.card(ts, "Posted"), ids.REMEMBER) is None
    other = dismissed(office, control, RETRIES, "wrong gateway")
    office.click(office.card(other, offering=ids.REMEMBER), ids.REMEMBER, user=CHLOE.user_id)
    office.told(CHLOE.user_id, "Only approvers may do this")
    assert control.modals.current() is None
    assert not list_files(office.home / "memory", "*.md")


def test_a_model_meets_the_lesson_in_its_brief(slack: LocalSlack, control: Control, shop: Path, tmp_path: Path) -> None:
    """With a caution of ours before it, among the data."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        office = ModelOffice(slack, control, tmp_path / "home", shop, server.url)
        office.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            remembered(office, control, dismissed(office, control, SESSIONS, "sessions moved to the gateway"))
            office.draft(office.ask(SIMILAR))
        finally:
            office.bot.stop()
        briefs = [json.dumps(entry["body"]["messages"][0]) for entry in server.requests]
    [told] = {brief for brief in briefs if "sessions moved to the gateway" in brief}
    assert "caution: a lesson, not a fact about the code: a draft that said this was dismissed" in told
