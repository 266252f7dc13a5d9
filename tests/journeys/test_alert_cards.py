"""An alert's card as the person on call uses it, in a browser: what changed, who owns it, who has it, what helped."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from blocks import ids
from bot.domain.alerts import ThreadAlert
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP
from tests.gitrepo import commit_files
from tests.hands import Control, text_value
from tests.journeys.browser import SlackPage
from tests.journeys.home_files import Journal
from tests.journeys.office import Office
from tests.payloads import payload

NAME = "[FIRING:1] CheckoutErrors"
HELPED = "Restart the checkout workers; the queue was full."
TUESDAY = 1
"""As `datetime.weekday` counts."""


def tells(office: Office, ts: str) -> None:
    """Have Slack deliver a message of the tool: an alert about the service `shop`."""
    fields = [{"title": "Severity", "value": "critical"}, {"title": "Service", "value": "shop"}]
    shown = {"title": NAME, "text": "see the runbook", "fields": fields}
    place = {"channel": HELP.channel_id, "ts": ts, "event_ts": ts}
    event = {**payload("bot_message")["event"], **place, "text": "", "blocks": [], "attachments": [shown]}
    body: dict[str, Any] = {**payload("bot_message"), "team_id": DEMO.team_id, "event_id": f"Ev{ts}", "event": event}
    office.bot.team.edge.watcher.receive(body)


def test_who_is_on_call_takes_an_alert_and_hands_it_on(
    slack: LocalSlack, control: Control, page: SlackPage, tmp_path: Path, shop: Path, pictures: Path
) -> None:
    """Ana takes it and hands it to Ben, who gets the card's link."""
    commit_files(shop, {".github/CODEOWNERS": "* @acme/checkout\n"}, "Name the owners")
    office = Office(slack, control, tmp_path / "home", shop, watcher={"allow_bots": {"B0ALERT": "grafana"}})
    first, second = (office.ask(NAME, user=CHLOE.user_id) for _ in range(2))
    tells(office, first)  # before the bot connects and hears them as Chloe's
    tells(office, second)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        office.card(first, "Firing*, 2 times")
        page.act_as(ANA.real_name)
        page.open_channel("triage-ops")
        card = page.message("Grafana alert")
        expect(card).to_contain_text("CODEOWNERS @acme/checkout")
        expect(card).to_contain_text("Name the owners")
        page.screenshot(pictures / "alert.png")
        page.click(card, "I have it")
        expect(card).to_contain_text("has it")
        page.click(card, "Hand to…")
        listed = page.modal.locator("select.bk-select").first
        listed.select_option(label=BEN.name)
        page.screenshot(pictures / "hand-to.png", page.modal)
        page.submit()
        expect(card).to_contain_text("handed it over")
        page.screenshot(pictures / "handed.png")
        page.act_as(BEN.real_name)
        page.open_direct_messages(BEN.real_name)
        expect(page.message("handed this to you")).to_contain_text("open card")
        page.screenshot(pictures / "handed-dm.png")
    finally:
        office.bot.stop()
    state = json.loads((tmp_path / "home" / "state" / f"{DEMO.team_id}.{HELP.channel_id}.{first}.json").read_text())
    assert (state["assignee"], ThreadAlert(**state["alert"]).count) == (BEN.user_id, 2)
    assert state["paging"]["acknowledged_by"] == ANA.user_id


def days_pass(journal: Path) -> datetime:
    """Have the only reply been posted last Tuesday; return when."""
    [record] = Journal(journal).records()
    posted_at = datetime.fromisoformat(record["posted_at"])
    tuesday = posted_at - timedelta(days=(posted_at.weekday() - TUESDAY) % 7 or 7)
    journal.write_text(json.dumps({**record, "posted_at": tuesday.isoformat()}) + "\n")
    return tuesday


def test_an_alert_that_came_before_shows_the_reply_approved_then(
    slack: LocalSlack, control: Control, page: SlackPage, tmp_path: Path, shop: Path, pictures: Path
) -> None:
    """With its day and a link; nobody has to search for it."""
    home, alerts = tmp_path / "home", {"allow_bots": {"B0ALERT": "grafana"}}
    before = Office(slack, control, home, shop, watcher=alerts)
    first = before.ask(NAME)
    tells(before, first)
    before.bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    before.click(before.card(first, offering=ids.EDIT), ids.EDIT)
    control.wait_for(control.modals.current, "the editor")
    control.modals.submit(ANA.user_id, {ids.REPLY: {ids.INPUT: text_value(HELPED)}})
    before.closed(first)
    before.bot.stop()
    days_pass(home / "replies.ndjson")
    office = Office(slack, control, home, shop, watcher=alerts)
    second = office.ask(NAME)
    tells(office, second)
    office.bot.start()
    try:
        office.card(second, "As on Tuesday", offering=ids.HAVE_IT)
        page.act_as(ANA.real_name)
        page.open_channel("triage-ops")
        card = page.message("As on Tuesday")
        expect(card).to_contain_text(HELPED)
        expect(card).to_contain_text(ANA.name)
        assert card.get_by_role("link", name="As on Tuesday").get_attribute("href")
        page.screenshot(pictures / "alert-again.png")
    finally:
        office.bot.stop()
