"""The page helpers against the real page and a tiny real bot; the bot's own journeys stand on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE
from tests.demo.bolt_app import running_app
from tests.journeys.browser import SlackPage


@pytest.fixture
def bot(slack: LocalSlack) -> Iterator[list[dict[str, Any]]]:
    """The tiny bot, connected; what it was sent is the fixture's value."""
    with running_app(slack) as seen:
        yield seen


def test_ask_open_the_card_edit_in_the_modal_read_the_reply(
    bot: list[dict[str, Any]], page: SlackPage, tmp_path: Path
) -> None:
    """One person asks in #help, another edits and posts in #triage-ops, and the reply stands in the thread."""
    page.act_as(CHLOE.real_name)
    page.open_channel("help")
    page.post("How does the client retry?")
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    card = page.message("How does the client retry?")
    page.click(card, "Edit")
    page.fill("Reply", "")
    page.submit(refused=True)
    page.fill("Reply", "Three times, then it gives up.")
    page.check("Then", "Only save")
    shot = page.screenshot(tmp_path / "modal.png", page.modal)
    page.submit()
    page.open_thread("How does the client retry?")
    expect(page.thread_message("Three times, then it gives up.")).to_be_visible()
    assert bot[-1]["user"]["id"] == ANA.user_id
    assert shot.stat().st_size > 1000


def test_choose_from_the_menu_and_reply_in_a_thread(bot: list[dict[str, Any]], page: SlackPage) -> None:
    """The overflow menu and the thread's composer work as their helpers say."""
    page.act_as(CHLOE.real_name)
    page.open_channel("help")
    page.post("Where is the config?")
    page.open_thread("Where is the config?")
    page.reply("I mean the YAML file")
    assert bot[-1]["event"]["thread_ts"]
    page.open_channel("triage-ops")
    page.choose(page.message("Where is the config?"), "Show evidence")
    page.open_thread("Where is the config?")
    expect(page.thread_message("clicked")).to_be_visible()
