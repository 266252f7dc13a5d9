"""A question that pages, end to end: it rings over a real local-slack, on a clock that moves when told to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.paging import Paging
from bot.ports.threads import Threads
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, DEMO, HELP, OPS
from tests.fakes import FakeClock
from tests.hands import Control, Json
from tests.journeys.office import Office
from tests.journeys.test_brief import at_work

DOWN = "prod is down!! Who can look at the retry queue?"


def notices(control: Control, channel: str | None) -> list[Json]:
    """Return the rings and escalations that stand in a channel."""
    said = control.messages(channel) if channel else []
    return [m for m in said if m["text"].startswith("Page: nobody has acknowledged it")]


def escalated(control: Control) -> list[Json]:
    """Return what Ben was told."""
    return notices(control, control.direct_messages(BEN.user_id))


def waits(office: Office, clock: FakeClock, rings: int) -> list[Json]:
    """Let a quarter of an hour pass; return the rings in the ops channel once there are so many.

    What is due is said now, or just then by the bot's own clock.
    """
    clock.advance(15 * 60)
    office.bot.team.questions.pages.tick()
    return office.control.wait_for(
        lambda: said if len(said := notices(office.control, OPS.channel_id)) >= rings else None, f"{rings} rings"
    )


def test_a_question_that_pages_rings_until_somebody_answers_whatever_dies(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Killed after a ring that is not on file, it rings no second time; Ben is told next, and Ana's word ends it."""
    clock, home = FakeClock(datetime.now(UTC)), tmp_path / "home"
    settings = {"pages": {"then": BEN.user_id}}
    with at_work(slack, control, home, shop, clock, **settings) as office:
        ts = office.ask(DOWN)
        office.card(ts, "Page:")
        [ring] = waits(office, clock, 1)
        assert "<!channel>" in str(ring["blocks"])
        assert DOWN in shown_text(ring)
        office.bot.team.questions.pages.tick()
        assert len(notices(control, OPS.channel_id)) == 1
    store, thread_id = Threads(FileDocuments(home)), f"{DEMO.team_id}.{HELP.channel_id}.{ts}"
    state = store.get(thread_id)
    assert state is not None
    store.put(state.evolve(paging=Paging()))
    with at_work(slack, control, home, shop, clock, **settings) as office:
        assert len(waits(office, clock, 1)) == 1
        assert len(control.wait_for(lambda: escalated(control), "Ben to be told")) == 1
        assert len(waits(office, clock, 2)) == 2
        assert len(escalated(control)) == 1
        office.ask("I am rolling it back", user=ANA.user_id, thread=ts)
        office.card(ts, f"<@{ANA.user_id}> acknowledged it")
        assert len(waits(office, clock, 2)) == 2
