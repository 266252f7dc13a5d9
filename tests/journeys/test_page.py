"""The page helpers against the real page and a tiny real bot; the bot's own journeys stand on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from slack_sdk import WebClient

from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests.demo.bolt_app import running_app
from tests.hands import Control
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
    page.submit(refused=True)  # by the page
    page.fill("Reply", " ")
    page.submit(refused=True)  # by the bot
    expect(page.modal).to_contain_text("An empty reply helps nobody.")
    page.fill("Reply", "Three times, then it gives up.")
    page.check("Then", "Only save")
    shot = page.screenshot(tmp_path / "modal.png", page.modal)
    page.submit()
    page.open_thread("How does the client retry?")
    expect(page.thread_message("Three times, then it gives up.")).to_be_visible()
    assert [body["user"]["id"] for body in bot if body.get("type") == "view_submission"] == [ANA.user_id] * 2
    assert shot.stat().st_size > 1000


def test_choose_from_the_menu_and_reply_in_a_thread(
    bot: list[dict[str, Any]], page: SlackPage, control: Control
) -> None:
    """The overflow menu and the thread's composer work as their helpers say."""
    page.act_as(CHLOE.real_name)
    page.open_channel("help")
    page.post("Where is the config?")
    page.open_thread("Where is the config?")
    page.reply("I mean the YAML file")
    expect(page.thread_message("I mean the YAML file")).to_be_visible()
    control.wait_for(
        lambda: any(body.get("event", {}).get("thread_ts") for body in bot), "the bot to hear of the reply"
    )
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    page.choose(page.message("Where is the config?"), "Show evidence")
    page.open_thread("Where is the config?")
    expect(page.thread_message("clicked")).to_be_visible()


DRAWN = """*Bold*, _so it is_, ~gone~, `a &lt; b`, &amp;lt; stays, snake_case_name and 2*3*4 too
```
if a &lt; b:
    *p = "_x_"
```
&gt; quoted
<https://example.com/a?b=1&amp;c=2|a link>, <@U0ANA> in <#C0HELP|help>, <!date^1795230720^{date_num} {time}|fallback>
<b onclick=alert(1)>no markup</b> :eyes:"""


def test_text_is_drawn_as_slack_draws_it(slack: LocalSlack, page: SlackPage) -> None:
    """Code, entities, emphasis, links, names and the reader's time; markup in a text stays text."""
    client = WebClient(DEMO.bot_token, base_url=slack.api_url)
    client.chat_postMessage(channel=HELP.channel_id, text="x", blocks=[section(DRAWN)])
    shown = page.message("Bold").locator(".bk-text")
    expect(shown.locator("strong")).to_have_text("Bold")
    expect(shown.locator("em")).to_have_text("so it is")
    expect(shown.locator("del")).to_have_text("gone")
    expect(shown.locator("code")).to_have_text("a < b")
    expect(shown.locator("pre")).to_have_text('if a < b:\n    *p = "_x_"')
    expect(shown.locator("blockquote")).to_have_text("quoted")
    expect(shown.locator("a")).to_have_attribute("href", "https://example.com/a?b=1&c=2")
    expect(shown.locator("time")).to_have_text("2026-11-21 03:12")
    for plain in ("&lt; stays, snake_case_name and 2*3*4 too", "@Ana Silva in #help", "no markup", "👀"):
        expect(shown).to_contain_text(plain)
    assert shown.locator("b").count() == 0


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def test_each_person_sees_what_slack_would_show_them(slack: LocalSlack, page: SlackPage) -> None:
    """Private channels are for members, private answers for one person, and an untouched dialogue keeps its text."""
    client = WebClient(DEMO.bot_token, base_url=slack.api_url)
    client.chat_postEphemeral(channel=HELP.channel_id, user=BEN.user_id, text="for Ben's eyes")
    page.open_channel("help")
    expect(page.page.locator(".messages")).not_to_contain_text("for Ben's eyes")
    page.act_as(BEN.real_name)
    expect(page.message("for Ben's eyes")).to_contain_text("Only visible to you")
    page.open_channel(OPS.name)
    page.act_as(CHLOE.real_name)
    expect(page.page.locator(".sidebar")).not_to_contain_text(OPS.name)
    expect(page.page.locator(".channel-title")).not_to_contain_text(OPS.name)


def test_a_dialogue_keeps_lines_and_what_nobody_touched(bot: list[dict[str, Any]], page: SlackPage) -> None:
    """Several lines arrive as several lines; an input left alone arrives with the text it began with."""
    page.post("How does the client retry?")
    page.open_channel(OPS.name)
    for typed in ("First line\n\n    indented\nlast line", None):
        page.click(page.message("How does the client retry?"), "Edit")
        if typed:
            page.fill("Reply", typed)
        page.submit()
        submitted = [body["view"]["state"]["values"] for body in bot if body.get("type") == "view_submission"]
        assert submitted[-1]["reply"]["value"]["value"] == (typed or "draft")


def test_a_narrow_window_leaves_the_messages_its_width(page: SlackPage) -> None:
    """The channels stand above them."""
    page.page.set_viewport_size({"width": 420, "height": 900})
    page.open_channel("help")
    box = page.page.locator(".main").bounding_box()
    assert box is not None
    assert box["width"] == 420
