"""The weekly review, end to end: `/triage review`, and the direct message to the lead, over a real local-slack."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.threads import Resolution
from bot.ports.collections import REVIEWS, SingleDocument
from demo.control import Control, Json
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.fakes import FakeClock
from tests.journeys.test_brief import at_work


def reviews(control: Control) -> list[Json]:
    """Return the reviews in Ana's direct messages."""
    channel = control.direct_messages(ANA.user_id)
    return [m for m in control.messages(channel) if m["text"].startswith("The week to")] if channel else []


@pytest.mark.full
def test_the_lead_is_told_of_the_week_once_and_anybody_may_ask(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """A kill between the post and the note, here undone by hand, makes no second message."""
    now, home = datetime.now(UTC), tmp_path / "home"
    store, endings = FileStore(home), {47: Resolution.DISMISSED, 46: Resolution.AUTO}
    live_four_weeks(store, now, endings, team=DEMO.team_id, channel=ENG.channel_id)
    lead = {"lead": ANA.user_id, "day": f"{now:%a}".lower(), "at": f"{now:%H:%M}", "timezone": "UTC"}
    for _ in range(2):
        with at_work(slack, control, home, shop, FakeClock(now), review=lead, working_hours=AT_WORK) as office:
            office.bot.team.casework.upkeep.reviews.schedule.tick()
            [said] = control.wait_for(lambda: reviews(control), "the review")
            office.control.command(ANA.user_id, OPS.channel_id, "review")
            office.control.command(CHLOE.user_id, HELP.channel_id, "review")
            for channel, words in ((OPS, "Where is limit 47 set?"), (HELP, "Only approvers can see which")):
                office.control.wait_for(
                    lambda channel=channel, words=words: any(
                        words in shown_text(m) for m in control.messages(channel.channel_id) if m.get("ephemeral_to")
                    ),
                    f"an answer with {words!r}",
                )
        SingleDocument(store.documents, REVIEWS).update({"sent": ""})
    blocks = json.dumps(said["blocks"], ensure_ascii=False)
    assert "Dismissed: 1" in blocks
    assert "Sent automatically: 1" in blocks
    assert "it is another limit" in blocks
