"""What happens to a card that nobody touches, and to a page that nobody has: on a clock that moves when told to."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, OPS
from tests.hands import Control
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS
from tests.promises.at_work import Later, at_work

ALWAYS = {
    "start": "00:00",
    "end": "24:00",
    "timezone": "UTC",
    "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
}
DOWN = "prod is down!! Who can look at the retry queue?"


def by_clock(
    slack: LocalSlack, control: Control, folder: Path, clock: Later, **more: Any
) -> AbstractContextManager[Office]:
    """Run the bot by this clock, with colleagues who always work."""
    return at_work(slack, control, folder, clock=clock, working_hours=ALWAYS, time_scale=0.02, **more)


def said(control: Control, channel: str | None, words: str) -> list[str]:
    """Return what the bot said in a channel with these words."""
    texts = [shown_text(one) for one in control.messages(channel)] if channel else []
    return [text for text in texts if words in text]


def test_a_card_that_waits_longer_than_remind_after_is_named_once_and_expires_after_expire_after(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Not sooner; a restart and a clock that goes back name nothing twice; the end is on the card."""
    clock = Later()
    limits = {"remind_after": "2h", "expire_after": "2d"}
    with by_clock(slack, control, tmp_path, clock, **limits) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
        clock.ahead = timedelta(hours=1)
        office.draft(office.ask(RETRIES))
        assert reminders(control) == []
        clock.ahead = timedelta(hours=2, minutes=5)
        control.wait_for(lambda: reminders(control), "the card to be named")
        clock.ahead = timedelta(hours=1)
    clock.ahead = timedelta(hours=2, minutes=10)
    with by_clock(slack, control, tmp_path, clock, **limits) as office:
        clock.ahead = timedelta(days=2, hours=4)
        card = office.card(ts, "xpired")
        assert find_element(card, ids.APPROVE) is None
        office.closed(ts)
        assert sum(SESSIONS[:20] in text for text in reminders(control)) == 1
        assert office.posted(ts) == []


def test_a_card_that_came_due_while_the_bot_was_away_is_named_before_it_expires(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """It can still be approved then."""
    clock = Later()
    limits = {"remind_after": "2h", "expire_after": "2d"}
    with by_clock(slack, control, tmp_path, clock, **limits) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
    clock.ahead = timedelta(days=9)
    with by_clock(slack, control, tmp_path, clock, **limits) as office:
        control.wait_for(lambda: reminders(control), "the card to be named")
        office.draft(ts)


def test_a_question_that_pages_rings_every_again_after_and_tells_pages_then_once(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """In the ops channel until an approver writes in its thread; Ben, who is next, is told once."""
    clock = Later()
    with by_clock(slack, control, tmp_path, clock, pages={"again_after": "10m", "then": BEN.user_id}) as office:
        ts = office.ask(DOWN)
        office.card(ts, "Page:")
        for number in (1, 2, 3):
            clock.ahead = timedelta(minutes=10 * number, seconds=30)
            control.wait_for(lambda n=number: len(rings(control, OPS.channel_id)) >= n, f"ring {number}")
        control.wait_for(lambda: rings(control, control.direct_messages(BEN.user_id)), "Ben to be told")
        office.ask("I am rolling it back", user=ANA.user_id, thread=ts)
        office.card(ts, f"<@{ANA.user_id}> acknowledged it")
        count = len(rings(control, OPS.channel_id))
        clock.ahead = timedelta(hours=1)
        office.draft(office.ask(RETRIES))
        assert len(rings(control, OPS.channel_id)) == count
        assert len(rings(control, control.direct_messages(BEN.user_id))) == 1


def test_a_brief_is_said_at_its_time_and_at_most_once_whatever_restarts(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Not before; not again by the next start."""
    clock = Later()
    due = datetime.now(UTC) + timedelta(hours=3)
    brief = {"morning": f"{due:%H:%M}", "timezone": "UTC"}
    with by_clock(slack, control, tmp_path, clock, brief=brief) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
        assert briefs(control) == []
        clock.ahead = timedelta(hours=3)
        control.wait_for(lambda: briefs(control), "the brief")
    with by_clock(slack, control, tmp_path, clock, brief=brief) as office:
        clock.ahead = timedelta(hours=3, minutes=5)
        office.draft(office.ask(RETRIES))
        assert len(briefs(control)) == 1


def briefs(control: Control) -> list[str]:
    """Return the morning briefs."""
    return [one["text"] for one in control.messages(OPS.channel_id) if one["text"].startswith("Morning brief")]


def reminders(control: Control) -> list[str]:
    """Return the messages that name waiting cards."""
    return [
        *said(control, OPS.channel_id, "card waits for a decision"),
        *said(control, OPS.channel_id, "cards wait for"),
    ]


def rings(control: Control, channel: str | None) -> list[str]:
    """Return the rings of a page in a channel."""
    return said(control, channel, "nobody has acknowledged it")
