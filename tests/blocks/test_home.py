"""App Home as data: every part, for every reader, within Slack's limits."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import PlainTextObject

from blocks.home import Home, home_view
from bot.casework.overview import Overview, ThreadLine
from bot.casework.today import Today
from bot.domain.beats import Indicator
from bot.heartbeat.overview import Row, Standing
from tests.blocks.limits import view_as_slack_takes_it
from tests.blocks.test_status import an_overview
from tests.builders import NOW

DAY = Today(messages=12, actionable=3, posted=2, model_runs=4, cost_usd=0.123)


def a_row(session_id: str = "shop", **changes: object) -> Row:
    row = Row(
        id=session_id,
        name="Shop <!channel>",
        owner="U1",
        is_master=False,
        standing=Standing.ON,
        indicator=Indicator.OK,
        every="every 30m",
        hours="08:00-22:00 UTC",
        last=None,
        next_at=NOW + timedelta(minutes=12),
        open_findings=1,
        notes=(),
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def a_home(overview: Overview | None = None, rows: tuple[Row, ...] = (), day: Today = DAY) -> Home:
    return Home(overview=overview or an_overview("why five?"), today=day, sessions=rows, now=NOW)


def shown(home: Home, *, may_see_drafts: bool = True) -> str:
    """Return the page's JSON, checked; a home has no title, so one is lent to it."""
    view = home_view(home, may_see_drafts=may_see_drafts)
    assert view.to_dict()["type"] == "home"
    view.title = PlainTextObject(text="home")
    return json.dumps(view_as_slack_takes_it(view), ensure_ascii=False)


def test_the_page_has_drafts_sessions_numbers_and_health() -> None:
    """One look says what waits, what beats, what the day cost and whether the bot hears."""
    seen = shown(a_home(an_overview("why five?"), (a_row(),)))
    for words in (
        "why five?",
        "next in 12 min",
        ":large_green_circle:",
        "12 messages heard, 3",
        "$0.12",
        "last event 4",
    ):
        assert words in seen
    assert "<!channel>" not in seen


def test_who_may_not_approve_sees_counts() -> None:
    """No question, and no link to a card."""
    line = replace(an_overview("the secret question").threads[0], card=("C0OPS", "1.2"))
    seen = shown(a_home(an_overview(threads=(line,))), may_see_drafts=False)
    assert "*1* waiting" in seen
    assert "secret" not in seen
    assert "archives" not in seen


@pytest.mark.parametrize(
    ("day", "says"),
    [
        (replace(DAY, cost_usd=None), "4 model runs, cost unknown"),
        (replace(DAY, model_runs=0, cost_usd=0.0), "no model run, $0.00"),
        (replace(DAY, model_runs=1), "1 model run, $0.12"),
    ],
)
def test_the_cost_is_true_or_unknown(day: Today, says: str) -> None:
    """A run without a price makes no sum."""
    assert says in shown(a_home(day=day))


def test_a_pause_comes_first() -> None:
    """With how to end it."""
    seen = shown(a_home(an_overview(paused="paused by @ana since 09:12 UTC")))
    assert seen.index("paused by @ana") < seen.index("Drafts")
    assert "/triage resume" in seen


@settings(deadline=None, max_examples=15)
@given(drafts=st.integers(0, 80), sessions=st.integers(0, 200), notes=st.text(max_size=400))
def test_any_number_of_drafts_and_sessions_fits(drafts: int, sessions: int, notes: str) -> None:
    """100 blocks and 3,000 characters are Slack's limits; what is left out is counted."""
    rows = tuple(a_row(f"s{n}", notes=(notes,) * 20) for n in range(sessions))
    lines = tuple(_draft(n) for n in range(drafts))
    seen = shown(a_home(an_overview(threads=lines), rows))
    assert sessions <= 40 or f"{sessions - 40} more" in seen


def _draft(number: int) -> ThreadLine:
    return replace(an_overview("<!here> `why`? " * 6).threads[0], thread_id=f"T1.C1.{number}", card=("C0OPS", "1.2"))
