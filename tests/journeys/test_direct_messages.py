"""Somebody writes to the bot alone: an approver decides in place, others get the reply, a guest is told who may ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from slack_sdk import WebClient

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, DemoUser
from tests.hands import Control, Json
from tests.journeys.browser import SlackPage
from tests.journeys.dressing_proxy import dressing_proxy
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, TIMEOUTS


@pytest.fixture
def office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Office]:
    """The ordinary bot with a session of Ana's, and a place to write to it; Ben is a guest."""
    session = {"cwd": str(shop), "owner": ANA.user_id}
    with dressing_proxy(slack.api_url, {BEN.user_id: {"is_restricted": True}}) as proxy:
        office = Office(slack, control, tmp_path / "home", shop, api_url=proxy.url, sessions={"web": session})
        office.bot.start()
        control.wait_for(control.is_connected, "the bot to connect")
        client = WebClient(DEMO.bot_token, base_url=slack.api_url)
        for person in (ANA, BEN, CHLOE):
            client.conversations_open(users=person.user_id)
        yield office
        office.bot.stop()


def place_of(control: Control, person: DemoUser) -> str:
    """Return the channel of somebody's direct messages."""
    found = control.direct_messages(person.user_id)
    assert found is not None
    return found


def shown(control: Control, channel: str, words: str) -> Json:
    """Return the message that holds these words, once it is there."""

    def found() -> Json | None:
        return next((one for one in control.messages(channel) if words in shown_text(one)), None)

    return control.wait_for(found, f"{words!r} in {channel}", channel=channel)


def test_an_approver_decides_in_their_direct_messages(
    office: Office, control: Control, page: SlackPage, pictures: Path
) -> None:
    """One card, there; the reply comes below the question; and an owner asks how a session is."""
    channel = place_of(control, ANA)
    page.open_direct_messages(ANA.real_name)
    page.post(RETRIES)
    card = page.message("Approve")
    expect(card).to_contain_text("in a direct message")
    page.screenshot(pictures / "direct-draft.png")
    (ts,) = [one["ts"] for one in control.messages(channel) if one["text"] == RETRIES]
    assert office.cards(ts, channel=channel) == []
    page.click(card, "Approve")
    office.reply(ts, channel=channel)
    office.closed(ts, channel=channel)
    page.post("how is web?")
    shown(control, channel, "web has not been checked yet")
    page.open_thread(RETRIES[:30])
    page.screenshot(pictures / "direct-reply.png")


def test_anybody_else_is_told_who_reads_the_draft_and_gets_the_reply(office: Office, control: Control) -> None:
    """They see no draft: its card stands in the ops channel."""
    channel = place_of(control, CHLOE)
    ts = office.ask(RETRIES, channel=channel)
    assert shown(control, channel, "read the draft first")["thread_ts"] == ts
    card = office.draft(ts, channel=channel)
    assert not any(find_element(one, ids.APPROVE) for one in control.messages(channel))
    office.click(card, ids.APPROVE)
    control.wait_for(lambda: len(office.posted(ts, channel=channel)) == 2, "the reply", channel=channel)
    office.closed(ts, channel=channel)


def test_a_guest_is_told_once_who_may_ask(office: Office, control: Control, page: SlackPage, pictures: Path) -> None:
    """Whatever they write on in that thread; nobody is asked to approve anything."""
    channel = place_of(control, BEN)
    page.act_as(BEN.real_name)
    page.open_direct_messages(BEN.real_name)
    page.post(RETRIES)
    page.open_thread(RETRIES[:30])
    expect(page.thread_message("Only members of this workspace")).to_be_visible()
    page.reply("And where is the timeout set?")
    other = office.ask(TIMEOUTS, channel=channel, user=BEN.user_id)
    control.wait_for(lambda: office.posted(other, channel=channel), "the answer to another message", channel=channel)
    (ts,) = [one["ts"] for one in control.messages(channel) if one["text"] == RETRIES]
    assert [len(office.posted(one, channel=channel)) for one in (ts, other)] == [1, 1]
    assert office.cards(ts, channel=channel) == []
    page.screenshot(pictures / "direct-guest.png")
