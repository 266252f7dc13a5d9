"""Somebody of two teams: what they do outside a team's channels reaches the right team, and says which."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from slack_sdk import WebClient

from blocks import ids
from demo.headless import shown_text
from demo.page_server import PageServer
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, DemoChannel
from tests.handlers.signed import SECRET, as_form, send, sign
from tests.handlers.slack_stub import slack_stub
from tests.hands import Control
from tests.journeys.browser import open_page, spoken
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, Company
from tests.journeys.shop import RETRIES, TIMEOUTS
from tests.payloads import payload

TEAMS = {
    "payments": {**PAYMENTS, "approvers": [ANA.user_id]},
    "platform": {**PLATFORM, "approvers": [ANA.user_id, BEN.user_id]},
}
"""Ana approves for both."""


@pytest.fixture
def company(company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path) -> Iterator[Company]:
    """Both teams at work."""
    company = Company(company_server, hands, tmp_path / "home", shop, TEAMS)
    company.start()
    yield company
    company.bot.stop()


def test_status_in_a_direct_message_is_that_of_each_of_ones_teams(company: Company, company_server: LocalSlack) -> None:
    """Ana's names both, Ben's the one he is of."""
    pay = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    company.card(PAY_OPS, pay, HELP, offering=ids.APPROVE)
    slack = WebClient(DEMO.bot_token, base_url=company_server.api_url)

    def status(user: str) -> list[str]:
        opened = str(slack.conversations_open(users=user)["channel"]["id"])
        talk = DemoChannel(channel_id=opened, name="direct", members=(user,), is_private=True)
        company.control.command(user, opened, "status")
        return shown_text(company.told(talk, "Team ", user=user)).replace("*", "").split("Team ")[1:]

    payments, platform = status(ANA.user_id)
    assert payments.startswith("payments") and "1 waiting" in payments  # noqa: PT018
    assert platform.startswith("platform") and "0 waiting" in platform  # noqa: PT018
    [alone] = status(BEN.user_id)
    assert alone.startswith("platform")


def test_a_click_on_home_is_for_the_team_under_whose_name_the_draft_stands(
    company: Company, company_server: LocalSlack, browser: Browser
) -> None:
    """Each draft stands under its team; approved there, it is posted and recorded by that team, and nothing else is."""
    pay = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    plat = company.control.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
    company.card(PAY_OPS, pay, HELP, offering=ids.APPROVE)
    company.card(PLAT_OPS, plat, ENG, offering=ids.APPROVE)
    with (
        PageServer(company_server.url, actor=ANA.user_id, channel=HELP.channel_id) as server,
        open_page(browser, server.url) as page,
    ):
        page.act_as(ANA.real_name)
        home = page.open_home()
        approve = home.get_by_role("button", name=spoken("Approve"))
        expect(approve).to_have_count(2)
        shown = home.inner_text()
        names = [shown.index(words) for words in ("payments", RETRIES[:30], "platform", TIMEOUTS[:30])]
        assert names == sorted(names)
        approve.last.click()
        expect(home).to_contain_text("Posted.")
        expect(approve).to_have_count(1)
    company.reply(plat, ENG)
    assert company.replies(pay, HELP) == []
    teams = company.home / "teams"
    company.control.wait_for((teams / "platform" / "replies.ndjson").is_file, "platform's record")
    assert not (teams / "payments" / "replies.ndjson").exists()


def test_the_shortcut_reaches_the_team_of_the_message_and_says_which(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path
) -> None:
    """As a request that Slack signed: the throw-away Slack has no shortcuts. It is for Ana, who is of both teams."""
    http = {"slack": {"mode": "http", "http": "127.0.0.1:0"}}
    secret = {"SLACK_SIGNING_SECRET": SECRET}
    company = Company(company_server, hands, tmp_path / "home", shop, TEAMS, environment=secret, **http)
    company.bot.start()
    try:
        with slack_stub() as answers:
            connection = company.bot.connection
            url = f"http://{connection.address}/slack/events"
            for channel, ops, team in ((ENG, PLAT_OPS, "platform"), (HELP, PAY_OPS, "payments")):
                ts = hands.say(channel.channel_id, CHLOE.user_id, RETRIES)
                chosen = shortcut_of(ANA.user_id, channel, ts, f"{answers.url}{team}")
                body, kind = as_form(chosen)
                assert send(url, body, kind, sign(body, time.time())).status_code == 200
                [told] = hands.wait_for(lambda team=team: answers.of(team), "an answer")
                assert f"Team {team}: " in told["text"]
                company.card(ops, ts, channel, offering=ids.APPROVE)
                assert [len(company.cards(one, ts, channel)) for one in (PAY_OPS, PLAT_OPS) if one is not ops] == [0]
    finally:
        company.bot.stop()


def shortcut_of(user: str, channel: DemoChannel, ts: str, answer_to: str) -> dict[str, object]:
    """Return the payload of *Triage this*, chosen on a message of Chloe's."""
    body = payload("message_action")
    team = {"id": DEMO.team_id, "domain": "demo"}
    who = {**body["user"], "id": user, "team_id": DEMO.team_id}
    message = {**body["message"], "user": CHLOE.user_id, "ts": ts, "text": RETRIES, "team": DEMO.team_id}
    place = {"id": channel.channel_id, "name": channel.name}
    own = {"team": team, "user": who, "channel": place, "message": message, "message_ts": ts}
    return {**body, **own, "response_url": answer_to}
