"""App Home as data: every part, for every reader, within Slack's limits; what has buttons is shown whole."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block, PlainTextObject

from blocks import ids
from blocks.cards.draft_actions import click_of
from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.views.home_view import HomeData, Notice, TeamHome, home_view
from bot.casework.reports.status_overview import DayCounts, Overview, ThreadLine
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus, Twin
from bot.heartbeat.session_registry import resolve_session
from bot.heartbeat.session_rows import SessionRow, SessionStatus
from tests.blocks.cards.test_draft_card import FEW, HOSTILE
from tests.blocks.limits import as_slack_takes_it, view_as_slack_takes_it
from tests.builders import NOW, in_status
from tests.casework.reports.test_answers import an_overview
from tests.heartbeat.clockwork import session_settings
from tests.tables import each_row

DAY = DayCounts(messages=12, actionable=3, model_runs=4, cost_usd=0.123)


def a_row(session_id: str = "shop", **changes: object) -> SessionRow:
    settings = session_settings(Path("/srv/shop"), name="Shop <!channel>", owner="U01")
    row = SessionRow(
        session=resolve_session(session_id, settings),
        status=SessionStatus.OK,
        hours="08:00-22:00 UTC",
        last=None,
        next_at=NOW + timedelta(minutes=12),
        found=(OpenFinding(key="k", task="t", text="red", first_at=NOW, last_at=NOW),),
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def a_home(
    overview: Overview | None = None,
    rows: tuple[SessionRow, ...] = (),
    day: DayCounts = DAY,
    drafts: Sequence[ThreadState] = (),
) -> HomeData:
    return HomeData(
        overview=overview or (of_drafts(*drafts) if drafts else an_overview("why five?")),
        today=day,
        sessions=rows,
        now=NOW,
        drafts={state.thread_id: state for state in drafts},
        card=partial(card_blocks, facts=CardFacts(link_to=lambda _: None)),
    )


def a_draft(number: int = 1, **changes: Any) -> ThreadState:
    """Return a thread with a draft that waits."""
    reason = changes.pop("reason", PendingReason.APPROVAL)
    return in_status(ThreadStatus.PENDING_USER, reason, thread_id=f"T1.C1.1795165200.{number:06d}", **changes)


def of_drafts(*drafts: ThreadState) -> Overview:
    """Return an overview that lists these."""
    some = replace(
        an_overview("x").threads[0], permalink="https://acme.slack.com/archives/C1/p1", card=("C0OPS", "1.2")
    )
    return an_overview(threads=tuple(replace(some, thread_id=d.thread_id, question=d.question) for d in drafts))


def page(home: HomeData, *, may_approve: bool = True, user: str = "U2", notice: Notice | None = None) -> dict[str, Any]:
    """Return the page as Slack takes it; a home has no title, so one is lent to it."""
    view = home_view([TeamHome(name="", home=home, may_approve=may_approve)], user=user, notice=notice)
    assert view.to_dict()["type"] == "home"
    view.title = PlainTextObject(text="home")
    found = view_as_slack_takes_it(view)
    ids_ = [block["block_id"] for block in found["blocks"] if "block_id" in block]
    assert len(ids_) == len(set(ids_))
    assert len(json.dumps(found)) <= 250_000
    return found


def shown(home: HomeData, *, may_approve: bool = True, user: str = "U2", notice: Notice | None = None) -> str:
    """Return the page's JSON."""
    return json.dumps(page(home, may_approve=may_approve, user=user, notice=notice), ensure_ascii=False)


def text_of(block: dict[str, Any]) -> str:
    return str((block.get("text") or {}).get("text"))


def clicks(found: dict[str, Any], action: str) -> list[str]:
    """Return the values of the buttons of one kind on a page."""
    rows = [[*block.get("elements", []), block.get("accessory") or {}] for block in found["blocks"]]
    return [element["value"] for row in rows for element in row if element.get("action_id") == action]


def test_the_page_has_drafts_sessions_numbers_and_health() -> None:
    """One look says what waits, what beats, what the day cost and whether the bot hears."""
    seen = shown(a_home(an_overview("why five?"), (a_row(),)))
    for words in (
        "why five?",
        "next in 12 min",
        ":large_green_circle:",
        "12 messages read, 3",
        "$0.12",
        "last event 4",
    ):
        assert words in seen
    assert "<!channel>" not in seen


def test_who_may_not_approve_sees_counts() -> None:
    """No question, and no link to a card."""
    line = replace(an_overview("the secret question").threads[0], card=("C0OPS", "1.2"))
    seen = shown(a_home(an_overview(threads=(line,))), may_approve=False)
    assert "*1* waiting" in seen
    assert "secret" not in seen
    assert "archives" not in seen


def test_a_draft_has_its_buttons_where_it_is_shown_whole() -> None:
    """The very clicks of the card, and all that the card shows to decide on."""
    state = a_draft(question="why five?", stale_reasons=("`app/retry.py:10-12` changed in the codebase",))
    found = page(a_home(drafts=[state]))
    assert clicks(found, ids.APPROVE) == clicks(found, ids.EDIT) == clicks(found, ids.DISMISS) == [value_of(state)]
    seen = json.dumps(found, ensure_ascii=False)
    for block in card_blocks(state, CardFacts(link_to=lambda _: None)):
        assert json.dumps(block.to_dict(), ensure_ascii=False) in seen
    assert "archives/C0OPS/p12|card" in seen


def value_of(state: ThreadState) -> str:
    return ids.CLICK.encode(click_of(state))


@each_row("size", ["many", "long"])
def test_what_does_not_fit_is_a_line_without_buttons(size: str) -> None:
    """Nobody decides on what the page does not show: each draft has all of its blocks, or a line with a link."""
    long = "word " * 900
    drafts = [a_draft(n, draft_pending=long if size == "long" else "It is 5.", question=f"q{n}?") for n in range(30)]
    found = page(a_home(drafts=drafts))
    whole = set(clicks(found, ids.APPROVE))
    assert 0 < len(whole) < 30
    assert f"{30 - len(whole)} more wait, too long to be shown here" in json.dumps(found)
    (listed,) = [lines for lines in map(text_of, found["blocks"]) if lines.startswith("• <")]
    for state in drafts:
        assert not (state.question in listed.split() and value_of(state) in whole)
    lines = listed.splitlines()
    left = re.fullmatch("… and ([0-9]+) more", lines[-1])
    assert len(lines) + (int(left[1]) - 1 if left else 0) == 30 - len(whole)


@each_row("text", FEW.values())
def test_no_draft_breaks_the_page(text: str) -> None:
    """The same hostile text as question, draft, doubt and answer, in several drafts."""
    page_of_drafts(text, 3)


def page_of_drafts(text: str, count: int) -> None:
    """Draw so many drafts that hold a text wherever one may stand."""
    drafts = [a_draft(n, question=text, stale_reasons=(text,)).with_draft(text[:12_000] or "x") for n in range(count)]
    page(a_home(drafts=drafts), notice=Notice(text=text, at=NOW, about=text))


@each_row("size", ["short", "too large"])
def test_of_very_many_drafts_only_as_many_are_made_as_may_be_shown(size: str) -> None:
    """A page of a hundred long ones would take a minute, for every reader."""
    text = "The limit is 5." if size == "short" else "ж" * 4_500
    made: list[str] = []

    def card(state: ThreadState) -> list[Block]:
        made.append(state.thread_id)
        return card_blocks(state, CardFacts(link_to=lambda _: None))

    home = replace(a_home(drafts=[a_draft(n).with_draft(text) for n in range(1, 101)]), card=card)
    page(home)
    assert 0 < len(made) <= 30


@each_row("user", ["U2", "U01"])
def test_who_may_not_approve_gets_no_button_of_a_draft(user: str) -> None:
    """Not even the owner of a session, who gets that session's."""
    found = page(a_home(rows=(a_row(),), drafts=[a_draft()]), may_approve=False, user=user)
    assert not [v for action in (ids.APPROVE, ids.EDIT, ids.DISMISS, ids.ADD_CONTEXT) for v in clicks(found, action)]
    assert clicks(found, ids.RUN_SESSION) == (["shop"] if user == "U01" else [])


@given(drafts=st.integers(0, 80), sessions=st.integers(0, 200), notes=st.text(max_size=400))
def test_any_number_of_drafts_and_sessions_fits(drafts: int, sessions: int, notes: str) -> None:
    """100 blocks and 3,000 characters are Slack's limits; what is left out is counted."""
    rows = tuple(a_row(f"s{n}", notes=(notes,) * 20) for n in range(sessions))
    lines = tuple(_draft(n) for n in range(drafts))
    seen = shown(a_home(an_overview(threads=lines), rows))
    assert not sessions or f"*{sessions} watched repositor" in seen
    assert sessions <= 20 or "of them here; all: `/triage heartbeat list`" in seen


def _draft(number: int) -> ThreadLine:
    return replace(an_overview("<!here> `why`? " * 6).threads[0], thread_id=f"T1.C1.{number}", card=("C0OPS", "1.2"))


def test_two_drafts_with_twins_can_be_answered_everywhere_from_the_page() -> None:
    """Each has its own button; no block id stands twice, or Slack would refuse the whole page."""
    drafts = [a_draft(number, twins=tuple(a_twin(10 * number + n) for n in range(7))) for number in (1, 2)]
    view = home_view([TeamHome(name="", home=a_home(drafts=drafts), may_approve=True)], user="U2")
    said = json.dumps(as_slack_takes_it(view.blocks))
    assert said.count("Answer there too (7)") == 2
    assert [ids.CLICK.encode(click_of(draft, with_twins=True)) in said for draft in drafts] == [True, True]


def a_twin(number: int) -> Twin:
    return Twin(
        thread_id=f"T1.C2.1795165300.{number:06d}", chat_id="C2", message_id=f"1795165300.{number:06d}", asker="U3",
        asked_at=NOW, permalink=None, reason="same-words",
    )  # fmt: skip


@pytest.mark.full
@each_row("text", HOSTILE.values())
def test_no_number_of_drafts_breaks_the_page(text: str) -> None:
    """As many as are drawn whole, with each text."""
    page_of_drafts(text, 10)


def test_a_draft_too_large_for_the_page_does_not_hide_a_smaller_one() -> None:
    """The others are shown whole all the same."""
    large = a_draft(1, draft_pending="词 " * 40_000, question="large?")
    small = a_draft(2, question="small?")
    found = page(a_home(drafts=[large, small]))
    assert clicks(found, ids.APPROVE) == [value_of(small)]
    assert "1 more waits" in json.dumps(found)
