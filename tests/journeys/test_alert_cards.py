"""An alert's card as the person on call uses it, in a browser: who changed what, who owns it, who has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from bot.domain.alerts import ThreadAlert
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP
from tests.gitrepo import commit_files
from tests.hands import Control
from tests.journeys.browser import SlackPage
from tests.journeys.office import Office
from tests.payloads import payload

NAME = "[FIRING:1] CheckoutErrors"


def tells(office: Office, ts: str) -> None:
    """Have Slack deliver a message of the tool: an alert about the service `shop`."""
    fields = [{"title": "Severity", "value": "critical"}, {"title": "Service", "value": "shop"}]
    shown = {"title": NAME, "text": "see the runbook", "fields": fields}
    place = {"channel": HELP.channel_id, "ts": ts, "event_ts": ts}
    event = {**payload("bot_message")["event"], **place, "text": "", "blocks": [], "attachments": [shown]}
    body: dict[str, Any] = {**payload("bot_message"), "team_id": DEMO.team_id, "event_id": f"Ev{ts}", "event": event}
    office.bot.team.edge.watcher.receive(body)


def test_who_is_on_call_takes_an_alert_hands_it_on_and_sees_what_helped_before(
    slack: LocalSlack, control: Control, page: SlackPage, tmp_path: Path, shop: Path, pictures: Path
) -> None:
    """Ana takes it and hands it to Ben, who gets the card's link; the next such alert names the reply of this one."""
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
