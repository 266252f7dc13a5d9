"""The lead is sent the review of the week once, whatever restarts, and nothing where there is nothing to say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.report_schedules import ReviewSchedule
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.weekly_review import WeeklyReview, build_review
from bot.config.casework_settings import ReviewSettings
from bot.domain.hours import ActiveHours
from bot.errors import ProviderError, StoreError
from tests.casework.four_weeks import live_four_weeks
from tests.fakes import FakeClock, MemorySingle

MONDAY = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
"""Nine in Berlin."""


class Lead:
    """A team with four weeks behind it, and a schedule that can be restarted; `refuse` is raised instead of sending."""

    def __init__(self, folder: Path) -> None:
        self.store, self.stored = FileStore(folder), MemorySingle()
        self.clock = FakeClock(MONDAY - timedelta(minutes=1))
        self.hours: ActiveHours | None = None
        self.settings = ReviewSettings(lead="U0ANN", timezone="Europe/Berlin")
        self.sent: list[tuple[str, datetime]] = []
        self.refuse: ProviderError | None = None

    def send(self, review: WeeklyReview, week: str, meant_at: datetime) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.sent.append((week, meant_at))

    def build(self) -> WeeklyReview:
        return build_review(self.store, Rollups(self.store), self.clock.now())

    def tick(self, **later: float) -> list[str]:
        """Tick after some time in a new process, twice; return the weeks that were sent."""
        self.clock.at += timedelta(**later)
        schedule = ReviewSchedule(
            self.clock, self.settings, self.stored, build=self.build, send=self.send, zone="Europe/Berlin",
            hours=self.hours,
        )  # fmt: skip
        schedule.tick()
        schedule.tick()
        return [week for week, _ in self.sent]


@pytest.fixture
def lead(tmp_path: Path) -> Lead:
    """A minute before nine on Monday."""
    lead = Lead(tmp_path)
    live_four_weeks(lead.store, MONDAY + timedelta(days=7), {})
    return lead


def test_each_week_has_one_review_whatever_restarts(lead: Lead) -> None:
    """Not before its time, once at it, and again the next Monday."""
    assert lead.tick() == []
    assert lead.tick(minutes=1) == ["2026-11-23"]
    assert lead.tick(days=6) == ["2026-11-23"]
    assert lead.tick(days=1) == ["2026-11-23", "2026-11-30"]


def test_nothing_is_sent_that_the_disk_does_not_remember(lead: Lead) -> None:
    """It would be sent again by the next process."""

    class Full(MemorySingle):
        def update(self, changes: object) -> None:
            raise StoreError("no space left")

    lead.stored = Full()
    with pytest.raises(StoreError):
        lead.tick(minutes=1)
    assert lead.sent == []
