"""The demo's page for people who use a screen reader, the keyboard alone, or twice the size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE
from tests.demo.bolt_app import running_app
from tests.journeys.browser import SlackPage

ZOOMED: ViewportSize = {"width": 640, "height": 430}
"""What a window of 1280 x 860 shows at 200 %."""

TABS = 60


@pytest.fixture
def card_page(slack: LocalSlack, page: SlackPage) -> Iterator[SlackPage]:
    """The page with one card in #triage-ops, seen by who may decide."""
    with running_app(slack):
        page.act_as(CHLOE.real_name)
        page.open_channel("help")
        page.post("How does the client retry?")
        page.act_as(ANA.real_name)
        page.open_channel("triage-ops")
        page.message("How does the client retry?")
        yield page


def test_axe_finds_nothing_wrong_with_channel_thread_and_dialogue(card_page: SlackPage) -> None:
    """No violation of any of its rules, whatever is open."""
    assert _violations(card_page.page) == []
    card_page.click(card_page.message("How does the client retry?"), "Edit")
    expect(card_page.modal).to_be_visible()
    assert _violations(card_page.page) == []
    card_page.page.keyboard.press("Escape")
    card_page.open_thread("How does the client retry?")
    assert _violations(card_page.page) == []


def test_a_card_is_decided_on_by_the_keyboard_at_twice_the_size(card_page: SlackPage) -> None:
    """Tab reaches the button and Enter clicks it; nothing must be scrolled sideways."""
    page = card_page.page
    page.set_viewport_size(ZOOMED)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Edit":
            break
    page.keyboard.press("Enter")
    expect(card_page.modal).to_be_visible()


def _violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
