"""People say whether a posted reply helped; the approvers hear of one that did not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from blocks import ids
from bot.cli.reports import metrics_command as metrics
from bot.cli.why import why_command as why
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests.gitrepo import commit_files, make_repo
from tests.hands import Control, Json
from tests.journeys.browser import SlackPage
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SHOP

Open = Callable[..., Office]


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[Open]:
    """Opens an ordinary office, and closes it."""
    opened: list[Office] = []
    shop = make_repo(tmp_path / "shop", SHOP)

    def make(**more: Any) -> Office:
        office = Office(slack, control, tmp_path / "home", shop, **more)
        opened.append(office)
        office.bot.start()
        control.wait_for(control.is_connected, "the bot to connect")
        return office

    yield make
    for one in opened:
        one.bot.stop()


def answered(office: Office) -> tuple[str, Json]:
    """Return the ts of a question, and its posted reply."""
    ts = office.ask(RETRIES)
    office.click(office.draft(ts), ids.APPROVE)
    reply = office.reply(ts)
    office.closed(ts)
    return ts, reply


def vote(office: Office, reply: Json, action: str, user: str) -> None:
    """Click a button under a reply."""
    element = find_element(reply, action)
    assert element is not None, shown_text(reply)
    office.control.click(HELP.channel_id, reply["ts"], user, **element.click_fields())


def whispered(office: Office, user: str, words: str) -> Json:
    """Return what only one person sees in the asker's channel."""

    def found() -> Json | None:
        private = [m for m in office.control.messages(HELP.channel_id) if m.get("ephemeral_to") == user]
        return next((m for m in private if words in m["text"]), None)

    return office.control.wait_for(found, f"{user} to be told {words!r}", channel=HELP.channel_id)


def below(office: Office, ts: str) -> list[Json]:
    """Return what stands below the card of a thread about feedback."""
    card = office.cards(ts)[0]
    said = [m for m in office.control.messages(OPS.channel_id) if m.get("thread_ts") == card["ts"]]
    return [m for m in said if "not helpful" in shown_text(m)]


def test_a_vote_is_counted_shown_and_one_against_comes_back(
    open_office: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the card's thread once, with what to do; in figures and the thread's own story."""
    office = open_office()
    ts, reply = answered(office)
    vote(office, reply, ids.HELPFUL, BEN.user_id)
    assert whispered(office, BEN.user_id, "that is counted")["thread_ts"] == ts
    office.card(ts, "1 helpful")
    vote(office, reply, ids.NOT_HELPFUL, CHLOE.user_id)
    whispered(office, CHLOE.user_id, "the people who approve replies are told")
    office.card(ts, "👍 1 helpful · 👎 1 not helpful")
    [told] = office.control.wait_for(lambda: below(office, ts), "the approvers to be told")
    assert f"<@{CHLOE.user_id}> found this reply *not helpful*" in str(told["blocks"])
    assert "mention me in that thread" in shown_text(told)
    vote(office, reply, ids.NOT_HELPFUL, BEN.user_id)
    office.card(ts, "👎 2 not helpful")
    assert len(below(office, ts)) == 1
    home = ("--home", str(office.home))
    figures = run(capsys, metrics, *home)
    assert "feedback: 0 helpful, 2 not helpful" in figures
    assert json.loads(run(capsys, metrics, *home, "--json"))["counts"]["votes"]["not_helpful"] == 2
    story = run(capsys, why, f"{DEMO.team_id}.{HELP.channel_id}.{ts}", *home)
    assert story.count("the reply was not helpful") == 2


def run(capsys: pytest.CaptureFixture[str], command: Any, *args: str) -> str:
    """Return what a command of the terminal prints."""
    command.main(list(args), standalone_mode=False)
    return capsys.readouterr().out


def test_without_the_buttons_nobody_is_asked(open_office: Open) -> None:
    """`feedback: false`."""
    _, reply = answered(open_office(feedback=False))
    assert find_element(reply, ids.HELPFUL) is None


@pytest.mark.full
def test_feedback_in_the_browser(open_office: Open, page: SlackPage, pictures: Path, tmp_path: Path) -> None:
    """Chloe reads the proof and votes under the reply; the approvers read of it below the card."""
    office = open_office()
    ts, _ = answered(office)
    page.act_as(CHLOE.real_name)
    page.open_channel(HELP.name)
    page.open_thread(RETRIES[:30])
    shown = page.thread_message("Helpful")
    expect(shown).to_contain_text("approved by ana")
    page.screenshot(pictures / "feedback-buttons.png", shown)
    commit_files(tmp_path / "shop", {"shop/retry.py": "gone = True\n"})
    page.click(shown, "Show proof")
    expect(page.modal).to_contain_text("changed since then")
    page.screenshot(pictures / "reply-proof.png", page.modal)
    page.modal.get_by_text("Close").click()
    page.click(shown, "👎 Not helpful")
    office.control.wait_for(lambda: below(office, ts), "the approvers to be told")
    page.act_as(ANA.real_name)
    page.open_channel(OPS.name)
    expect(page.message("1 not helpful")).to_contain_text("Posted")
    page.open_thread("1 not helpful")
    page.screenshot(pictures / "feedback-told.png", page.thread_message("Ask anew"))
