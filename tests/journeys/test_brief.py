"""The scheduled brief, end to end: the ordinary bot over a real local-slack, on a clock that moves when told to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import OpenFinding
from bot.heartbeat.session_registry import SessionMemory
from demo.slack_server import LocalSlack
from demo.workspace import ANA, OPS
from tests.fakes import FakeClock
from tests.hands import Control
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS


def briefs(control: Control) -> list[str]:
    """Return the briefs that stand in the ops channel, oldest first: their blocks."""
    said = [m for m in control.messages(OPS.channel_id) if m["text"].startswith(("Morning brief", "End of"))]
    return [json.dumps(m["blocks"], ensure_ascii=False) for m in said]


def told(office: Office, count: int = 1) -> list[str]:
    """Return the briefs once so many stand: one that is due is said now, or just then by the bot's own clock."""
    office.bot.team.questions.briefs.tick()
    return office.control.wait_for(lambda: found if len(found := briefs(office.control)) >= count else None, "a brief")


@contextmanager
def at_work(
    slack: LocalSlack, control: Control, home: Path, shop: Path, clock: FakeClock, **settings: Any
) -> Iterator[Office]:
    office = Office(slack, control, home, shop, clock=clock, **settings)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield office
    finally:
        office.bot.stop()


def test_a_brief_is_said_at_its_time_and_once_whatever_restarts(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Not before; with what waits; not again by the next start, and again on the next day."""
    clock, home = FakeClock(datetime.now(UTC)), tmp_path / "home"
    due = clock.now() + timedelta(hours=3)
    brief = {"morning": f"{due:%H:%M}", "timezone": "UTC"}
    with at_work(slack, control, home, shop, clock, brief=brief) as office:
        office.draft(office.ask(SESSIONS))
        office.bot.team.questions.briefs.tick()
        assert briefs(control) == []
        clock.advance(timedelta(hours=3).total_seconds())
        [said] = told(office)
        assert "*1 draft waits" in said
        assert SESSIONS[:20] in said
        office.bot.team.questions.briefs.tick()
    with at_work(slack, control, home, shop, clock, brief=brief) as office:
        clock.advance(60)
        office.bot.team.questions.briefs.tick()
        assert len(briefs(control)) == 1
        clock.advance(timedelta(days=1).total_seconds())
        assert len(told(office, 2)) == 2


def test_a_page_that_is_open_leads_the_brief(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> None:
    """Found days ago, on disk since, acknowledged by Ana: the brief says so, and the line for locked screens counts."""
    clock, home = FakeClock(datetime.now(UTC)), tmp_path / "home"
    due = clock.now() + timedelta(hours=3)
    found_at = clock.now() - timedelta(days=3)
    page = OpenFinding(
        key="shop/ci/down", task="ci", text="Prod is down", severity=Severity.PAGE,
        first_at=found_at, last_at=found_at, acknowledged_by=ANA.user_id,
    )  # fmt: skip
    SessionMemory(FileStore(home)).save("shop", lambda state: state.with_findings(page))
    brief = {"morning": f"{due:%H:%M}", "timezone": "UTC"}
    with at_work(slack, control, home, shop, clock, brief=brief) as office:
        clock.advance(timedelta(hours=3).total_seconds())
        [said] = told(office)
    assert (
        f"🚨 Page *shop* · <@{ANA.user_id}> · acknowledged · since <!date^{int(found_at.timestamp()) // 60 * 60}^"
        in said
    )
    assert "Prod is down" in said
