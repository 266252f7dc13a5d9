"""Two teams share one bot: each is answered in its own ops channel, and teams come and go without losing a thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blocks import ids
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, ENG, HELP
from tests.hands import Control
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, Company
from tests.journeys.office import load_settings
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS

TEAMS = {"payments": PAYMENTS, "platform": PLATFORM}


@pytest.fixture
def company(company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path) -> Iterator[Company]:
    """Both teams at work."""
    company = Company(company_server, hands, tmp_path / "home", shop, TEAMS)
    company.start()
    yield company
    company.bot.stop()


def test_each_team_is_answered_in_its_own_ops_channel(company: Company) -> None:
    """And only its approvers decide, whoever clicks; each has its own directory."""
    asked_pay = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    asked_plat = company.control.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
    pay = company.card(PAY_OPS, asked_pay, HELP, offering=ids.APPROVE)
    plat = company.card(PLAT_OPS, asked_plat, ENG, offering=ids.APPROVE)
    assert company.cards(PLAT_OPS, asked_pay, HELP) == company.cards(PAY_OPS, asked_plat, ENG) == []
    company.click(PAY_OPS, pay, ids.APPROVE, BEN.user_id)
    company.told(PAY_OPS, "Only approvers may do this", user=BEN.user_id)
    assert company.replies(asked_pay, HELP) == []
    company.click(PAY_OPS, pay, ids.APPROVE, ANA.user_id)
    company.click(PLAT_OPS, plat, ids.APPROVE, BEN.user_id)
    company.reply(asked_pay, HELP)
    company.reply(asked_plat, ENG)
    for team in TEAMS:
        log = company.home / "teams" / team / "replies.ndjson"
        company.control.wait_for(log.is_file, f"{team}'s record of the reply")
    assert not (company.home / "replies.ndjson").exists()


def test_a_removed_team_ends_each_open_thread_with_a_sentence(company: Company) -> None:
    """What is open in the other one stays open; one that is there again takes up what was asked meanwhile."""
    asked_pay = company.control.say(HELP.channel_id, CHLOE.user_id, RETRIES)
    asked_plat = company.control.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
    company.card(PLAT_OPS, asked_plat, ENG, offering=ids.APPROVE)
    pay = company.card(PAY_OPS, asked_pay, HELP, offering=ids.APPROVE)
    company.reload({"payments": PAYMENTS})
    company.card(PLAT_OPS, asked_plat, ENG, showing="the team platform is no longer in triage.yml")
    company.told(PAY_OPS, "The team platform is no longer in triage.yml: 1 open thread was closed.")
    company.click(PAY_OPS, pay, ids.APPROVE, ANA.user_id)
    company.reply(asked_pay, HELP)
    unheard = company.control.say(ENG.channel_id, CHLOE.user_id, SESSIONS)
    company.reload(TEAMS)
    company.told(PAY_OPS, "Team platform is new.")
    company.card(PLAT_OPS, unheard, ENG, offering=ids.APPROVE)


def test_a_team_removed_while_the_bot_was_down_is_ended_at_the_next_start(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path
) -> None:
    """Its card says so, and the ops channel of who is left."""
    first = Company(company_server, hands, tmp_path / "home", shop, TEAMS)
    first.start()
    try:
        asked = hands.say(ENG.channel_id, CHLOE.user_id, TIMEOUTS)
        first.card(PLAT_OPS, asked, ENG, offering=ids.APPROVE)
    finally:
        first.bot.stop()
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the bot to leave")
    second = Company(company_server, hands, tmp_path / "home", shop, {"payments": PAYMENTS})
    second.start()
    try:
        second.card(PLAT_OPS, asked, ENG, showing="the team platform is no longer in triage.yml")
        second.told(PAY_OPS, "1 open thread was closed")
    finally:
        second.bot.stop()


def test_what_one_team_left_belongs_to_the_first_of_several(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path
) -> None:
    """A waiting card can be approved, whatever the order of the teams later; the short form finds it all again."""
    home = tmp_path / "home"
    alone = Company(
        company_server, hands, home, shop, {}, ops_channel=PAY_OPS.channel_id, watched_chats=PAYMENTS["channels"]
    )
    alone.start()
    try:
        asked = hands.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        alone.card(PAY_OPS, asked, HELP, offering=ids.APPROVE)
    finally:
        alone.bot.stop()
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the bot to leave")
    several = Company(company_server, hands, home, shop, TEAMS)
    several.start()
    try:
        several.told(PAY_OPS, "what was known until today belongs to payments")
        several.click(PAY_OPS, several.card(PAY_OPS, asked, HELP, offering=ids.APPROVE), ids.APPROVE, ANA.user_id)
        several.reply(asked, HELP)
    finally:
        several.bot.stop()
    assert load_settings(home / "triage.yml").teams.keys() == TEAMS.keys()
    assert (home / "teams" / "payments").resolve() == home.resolve()
    assert (home / "replies.ndjson").is_file()


def test_what_one_team_left_between_several_is_ended_with_a_sentence(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path
) -> None:
    """The several had directories of their own before, so nobody inherits it; the history of each stays."""
    home = tmp_path / "home"
    before = Company(company_server, hands, home, shop, TEAMS)
    before.start()
    before.bot.stop()
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the bot to leave")
    alone = Company(
        company_server, hands, home, shop, {}, ops_channel=PAY_OPS.channel_id, watched_chats=PAYMENTS["channels"]
    )
    alone.start()
    try:
        asked = hands.say(HELP.channel_id, CHLOE.user_id, RETRIES)
        alone.card(PAY_OPS, asked, HELP, offering=ids.APPROVE)
    finally:
        alone.bot.stop()
    hands.wait_for(lambda: not hands.modals.is_bot_connected(), "the bot to leave")
    several = Company(company_server, hands, home, shop, TEAMS)
    several.start()
    try:
        several.told(PAY_OPS, "1 open thread was closed")
        left = [path.read_text() for path in (home / "closed").rglob(f"*{asked}*")]  # its card goes to whom it is now
        assert ["the team default is no longer in triage.yml" in text for text in left] == [True]
    finally:
        several.bot.stop()
