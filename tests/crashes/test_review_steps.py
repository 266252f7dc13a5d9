"""Killed at every named step of the weekly review's direct message, started again: the lead has it once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.threads import Resolution
from demo.control import Control, Json
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, ENG
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.crashes.life import Life
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import Step, after, before, met
from tests.gitrepo import make_repo
from tests.journeys.office import write_config
from tests.journeys.shop import SHOP
from tests.replicas.database_proxy import DatabaseProxy

SAVED = r"rename \S+ -> review\.json\n.*"
MEANT, SENT = SAVED + '"meant": "', SAVED + '"sent": "'
POSTED = "call chat.postMessage .*triage_review:"
STEPS = (
    Step(name="review: before it is meant", kill=before(MEANT), left={"reviews": 0, "meant": False}),
    Step(name="review: meant, not posted", kill=after(MEANT), left={"reviews": 0, "meant": True}),
    Step(name="review: before the post", kill=before(POSTED), left={"reviews": 0, "meant": True}),
    Step(name="review: posted, not answered", withheld=POSTED, left={"reviews": 1, "meant": True}),
    Step(name="review: posted, not on file", kill=before(SENT), left={"reviews": 1, "meant": True}),
    Step(name="review: sent", kill=after(SENT), left={"reviews": 1, "meant": True}),
)


@pytest.fixture
def life(slack: LocalSlack, control: Control, tmp_path: Path, database: DatabaseProxy | None) -> Iterator[Life]:
    """A home with four weeks of drafts, two of them worth a line, and a review that is due; behind the proxy."""
    now = datetime.now(UTC)
    due = now - timedelta(minutes=1)
    review = {"lead": ANA.user_id, "day": f"{due:%a}".lower(), "at": f"{due:%H:%M}", "timezone": "UTC"}
    code = make_repo(tmp_path / "shop", SHOP)
    config = write_config(tmp_path / "home", code, review=review, working_hours=AT_WORK)
    endings = {47: Resolution.DISMISSED, 46: Resolution.AUTO}
    with withholding_proxy(slack.api_url) as proxy:
        life = Life(slack, control, proxy, config, database=database)
        live_four_weeks(life.kept.store, now, endings, team=DEMO.team_id, channel=ENG.channel_id)
        yield life
        life.close()


def reviews(life: Life) -> list[Json]:
    """Return the reviews in the lead's direct messages."""
    channel = life.control.direct_messages(ANA.user_id)
    messages = life.control.messages(channel) if channel else []
    return [m for m in messages if any("triage_review:" in str(b.get("block_id")) for b in m.get("blocks") or [])]


def on_file(life: Life) -> dict[str, Any]:
    """Return what is remembered of reviews."""
    return life.kept.document("reviews", "reviews")


@pytest.mark.parametrize(("engine", "step"), met(STEPS) + met(STEPS, engine="postgres"))
def test_the_lead_has_one_review_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """What stands there is found, what does not is posted, and a third start posts nothing."""
    record_property("crash_step", f"{engine}: {step.name}")
    life.start(step.kill, step.withheld)
    life.control.wait_for(lambda: life.is_dead, f"the step {step.name!r}")
    assert {"reviews": len(reviews(life)), "meant": "meant" in on_file(life)} == step.left
    life.start()
    life.control.wait_for(lambda: on_file(life).get("sent"), "the review to be on file")
    life.stop()
    assert len(reviews(life)) == 1
    assert on_file(life)["sent"] == on_file(life)["meant"]
    assert life.left()["corrupt"] == []
