"""App Home in the browser: an approver finds the draft there, anybody else its number."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from demo.workspace import ANA, CHLOE
from tests.journeys.browser import SlackPage
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS


def test_the_home_shows_what_waits_to_those_who_may_decide(office: Office, page: SlackPage, pictures: Path) -> None:
    """Drafts, sessions, numbers and health on one page."""
    office.draft(office.ask(SESSIONS))
    page.act_as(ANA.real_name)
    home = page.open_home()
    expect(home).to_contain_text(SESSIONS[:20])
    expect(home).to_contain_text("1 message heard, 1 of them work")
    expect(home).to_contain_text("no model run, $0.00")
    assert page.screenshot(pictures / "home.png").stat().st_size > 1_000
    page.act_as(CHLOE.real_name)
    other = page.open_home()
    expect(other).to_contain_text("Who may approve sees them")
    expect(other).not_to_contain_text(SESSIONS[:20])
