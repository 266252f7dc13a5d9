"""App Home in the browser: approvers read drafts there and decide on the spot; anybody else sees their number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from blocks import ids
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE
from tests.hands import Control
from tests.journeys.beat_office import BeatOffice, sessions_of, watched
from tests.journeys.browser import SlackPage, spoken
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS


def press(home: Locator, label: str) -> None:
    """Click the first button of the page with this label."""
    home.get_by_role("button", name=spoken(label)).first.click()


def home_of(control: Control, user: str) -> str:
    """Return a person's page as the server holds it."""
    return json.dumps(control.modals.snapshot()["homeViews"].get(user), ensure_ascii=False)


def test_the_home_shows_what_waits_to_those_who_may_decide(office: Office, page: SlackPage, pictures: Path) -> None:
    """Drafts whole, with their buttons; sessions, numbers and health on the same page; others see how many wait."""
    office.draft(office.ask(SESSIONS))
    page.act_as(ANA.real_name)
    home = page.open_home()
    for words in (
        SESSIONS,
        "Search result, not an answer",
        "sessions.py",
        "1 message read, 1 looked into",
        "no model run, $0.00",
    ):
        expect(home).to_contain_text(words)
    expect(home.get_by_role("button", name=spoken("Approve"))).to_have_count(1)
    assert page.screenshot(pictures / "home.png").stat().st_size > 1_000
    page.act_as(CHLOE.real_name)
    other = page.open_home()
    expect(other).to_contain_text("Only approvers can see them")
    expect(other).not_to_contain_text(SESSIONS[:20])
    expect(other.get_by_role("button")).to_have_count(0)


def test_a_draft_is_approved_on_the_home(office: Office, page: SlackPage, control: Control) -> None:
    """The reply stands in its thread and in the log; the page says so, and nobody's page shows the draft any more."""
    ts = office.ask(SESSIONS)
    office.draft(ts)
    control.open_home(BEN.user_id)
    control.wait_for(lambda: SESSIONS[:20] in home_of(control, BEN.user_id), "Ben's page")
    page.act_as(ANA.real_name)
    home = page.open_home()
    press(home, "Approve")
    expect(home).to_contain_text("Posted.")
    expect(home).to_contain_text("your click ")
    expect(home).to_contain_text("0 waiting for a decision")
    expect(home.get_by_role("button")).to_have_count(0)
    assert office.reply(ts)["ts"] == next(iter(office.replies.records()))["posted_message_id"]
    control.wait_for(lambda: SESSIONS[:20] not in home_of(control, BEN.user_id), "Ben's page without the draft")
    assert "Posted." not in home_of(control, BEN.user_id)
    assert [record["approved_by"] for record in office.replies.records()] == [ANA.user_id]


@pytest.mark.full
def test_a_draft_is_edited_and_another_dismissed_on_the_home(office: Office, page: SlackPage) -> None:
    """The dialogues open from there, and what came of them stands on the page."""
    first = office.ask(SESSIONS)
    office.draft(first)
    second = office.ask(RETRIES, user=BEN.user_id)
    office.draft(second)
    page.act_as(ANA.real_name)
    home = page.open_home()
    expect(home).to_contain_text("pages first, then the oldest")
    press(home, "Edit")
    page.fill("Reply (Markdown)", "By HMAC-SHA256, see `shop/sessions.py:7-10`.")
    page.submit()
    expect(home).to_contain_text("Posted.")
    assert office.reply(first)["text"].startswith("By HMAC-SHA256")
    press(home, "Dismiss")
    page.fill("Why? (helps the next draft)", "answered in the stand-up")
    page.submit()
    expect(home).to_contain_text("Dismissed. Nothing was posted.")
    expect(home).to_contain_text("0 waiting for a decision")
    assert office.posted(second) == []


@pytest.mark.full
def test_evidence_is_followed_from_the_home(office: Office, page: SlackPage) -> None:
    """The cited lines among their neighbours, numbered, the quoted ones marked."""
    office.draft(office.ask(RETRIES))
    page.act_as(ANA.real_name)
    home = page.open_home()
    home.locator("select.bk-overflow").select_option(label="Show evidence")
    expect(page.modal).to_contain_text("✓ verified")
    expect(page.modal).to_contain_text("MAX_ATTEMPTS - 1")
    expect(page.modal).to_contain_text("triage verify")


def test_two_people_at_two_places_post_once(office: Office, page: SlackPage, control: Control) -> None:
    """Ana on the page, Ben on the card while hers is under way: one reply, and the loser is told who was first."""
    ts = office.ask(SESSIONS)
    card = office.draft(ts)
    page.act_as(ANA.real_name)
    home = page.open_home()
    press(home, "Approve")
    office.click(card, ids.APPROVE, user=BEN.user_id)
    expect(home).to_contain_text("your click")
    office.reply(ts)
    (record,) = office.replies.records()
    assert len(office.posted(ts)) == 1
    if record["approved_by"] == ANA.user_id:
        assert ANA.user_id in office.told(BEN.user_id, "approved")["text"]
    else:
        expect(home).to_contain_text("approved")


def test_a_session_is_run_from_the_home(
    slack: LocalSlack, control: Control, page: SlackPage, tmp_path: Path, shop: Path
) -> None:
    """By an approver; others get no button."""
    place = watched(tmp_path, "shop")
    office = BeatOffice(slack, control, tmp_path / "home", shop, sessions=sessions_of(place))
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        page.act_as(BEN.real_name)
        press(page.open_home(), "Run now")
        assert office.envelope(place, 1)["reason"] == "on_demand"
        expect(page.page.locator(".home")).to_contain_text("your click")
    finally:
        office.bot.stop()
