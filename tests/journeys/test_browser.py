"""The main job as a person does it: in a browser, with a mouse.

With TRIAGE_SCREENSHOTS=<folder> the pictures README shows are written there (`make screenshots`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import expect

from bot.domain.heartbeats.session_state import SessionState
from demo.slack_server import LocalSlack
from demo.watched import FAULTY, REPAIRED, SESSION, break_config
from demo.watched import watched as watched_by_the_demo
from demo.workspace import ANA, CHLOE
from tests.hands import Control
from tests.journeys.beat_office import BeatOffice, Watched
from tests.journeys.browser import SlackPage
from tests.journeys.office import Office
from tests.journeys.shop import TIMEOUTS

EDITED = "2 s to connect, 10 s to read, 45 s for pick lists, see `config/warehouse.toml:3-7`."


def _is_picture(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def test_ask_read_the_card_edit_and_post_in_the_browser(office: Office, page: SlackPage, pictures: Path) -> None:
    """Chloe asks in #help; Ana reads the card, edits the draft and posts it; the reply stands in Chloe's thread."""
    page.act_as(CHLOE.real_name)
    page.open_channel("help")
    page.post(TIMEOUTS)
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    card = page.message("Search result, not an answer")
    expect(card).to_contain_text("config/warehouse.toml")
    taken = [page.screenshot(pictures / "card.png")]
    page.click(card, "Edit")
    page.fill("Reply (Markdown)", EDITED)
    taken.append(page.screenshot(pictures / "edit.png", page.modal))
    page.fill("Reply (Markdown)", "")
    page.submit(refused=True)
    page.fill("Reply (Markdown)", EDITED)
    page.submit()
    page.message("edited and posted")
    page.open_channel("help")
    page.open_thread(TIMEOUTS)
    expect(page.thread_message("45 s for pick lists")).to_be_visible()
    taken.append(page.screenshot(pictures / "reply.png"))
    assert all(map(_is_picture, taken))
    (record,) = office.replies.records()
    assert record["edited"]


def test_a_saved_edit_and_a_new_draft_are_chosen_from_in_the_browser(
    office: Office, page: SlackPage, pictures: Path
) -> None:
    """Ana saves an edit and has the question investigated again; both are shown, and she posts what she chose."""
    ts = office.ask(TIMEOUTS)
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    page.click(page.message("Search result, not an answer"), "Edit")
    page.fill("Reply (Markdown)", EDITED)
    page.check("Not yet?", "Only save it; I will post later")
    page.submit()
    office.choose(office.card(ts, "45 s for pick lists"), "Re-investigate")
    card = page.message("edited by a human")
    expect(card).to_contain_text("New draft")
    expect(card).to_contain_text("45 s for pick lists")
    assert _is_picture(page.screenshot(pictures / "two-drafts.png"))
    page.click(card, "Use mine")
    expect(card).not_to_contain_text("New draft")
    page.click(card, "Approve")
    page.message("edited and posted")
    assert office.reply(ts)["text"] == EDITED


def test_a_dismissal_in_the_browser_leaves_the_thread_alone(office: Office, page: SlackPage, pictures: Path) -> None:
    """Dismiss asks why, closes the card and posts nothing."""
    ts = office.ask(TIMEOUTS)
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    page.click(page.message("Search result, not an answer"), "Dismiss")
    page.fill("Why? (helps the next draft)", "answered in the stand-up")
    page.submit()
    closed = page.message("answered in the stand-up")
    assert _is_picture(page.screenshot(pictures / "dismissed.png", closed))
    assert office.posted(ts) == []


def an_hour_passes(office: BeatOffice) -> None:
    """End every snooze of the demo's session."""

    def over(state: SessionState) -> SessionState:
        ended = [each.evolve(snoozed_until=datetime.now(UTC)) for each in state.findings.values()]
        return state.with_findings(*ended)

    office.beats.sessions.store.save(SESSION, over)


def test_the_life_of_an_alert_in_the_browser(
    slack: LocalSlack, control: Control, page: SlackPage, pictures: Path, tmp_path: Path, shop: Path
) -> None:
    """The demo's failing check in Ana's direct messages, clicked through from its snooze to "resolved", said once."""
    sessions = watched_by_the_demo(tmp_path / "watched")
    sessions[SESSION]["heartbeat"]["every"] = "7d"  # no beat but those of this test
    place = Watched(id=SESSION, cwd=Path(sessions[SESSION]["cwd"]))
    break_config(place.cwd)
    office = BeatOffice(slack, control, tmp_path / "home", shop, sessions=sessions)
    office.bot.start()
    try:
        office.beat(place, result="sent")
        page.act_as(ANA.real_name)
        page.open_direct_messages(ANA.real_name)
        cards = page.page.locator(".messages .msg", has_text="query_timeout_s is 0")
        expect(cards).to_have_count(1)
        assert _is_picture(page.screenshot(pictures / "alert.png"))
        cards.locator("select").select_option(label="1 h")
        expect(cards).to_contain_text("snoozed until")
        assert office.beat(place)["silent"]
        an_hour_passes(office)
        office.beat(place, result="sent")
        page.message("Still failing; see the new alert below.")
        page.click(cards, "Investigate")
        expect(cards).to_contain_text("started an investigation")
        page.open_channel("triage-ops")
        expect(page.message("A heartbeat of Storefront reports")).to_contain_text("query_timeout_s is 0")
        page.open_direct_messages(ANA.real_name)
        page.click(cards, "Acknowledge")
        expect(cards).to_contain_text("acknowledged it")
        page.click(cards, "Fixed")
        expect(cards).to_contain_text("Fixed by")
        office.beat(place, result="sent")
        expect(cards).to_have_count(2)
        (place.cwd / FAULTY).write_text("{" + REPAIRED + "}")
        for _ in range(2):
            office.beat(place)
        expect(cards.last).to_contain_text("Resolved")
        assert [office.said_below(card) for card in office.alerts()] == [[], [], [":white_check_mark: Resolved."]]
    finally:
        office.bot.stop()
