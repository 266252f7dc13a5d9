"""What is due, to the second, and what doubt means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.tiers import PERIODS, Stamps, Tier, due_tier
from tests.tables import each_row

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_AGES = st.none() | st.integers(-200_000, 200_000).map(lambda seconds: NOW - timedelta(seconds=seconds))


def ago(**age: float) -> datetime:
    """A stamp of some time before now."""
    return NOW - timedelta(**age)


@each_row(
    "hourly, daily, due",
    [
        (ago(minutes=59, seconds=59), ago(hours=23), Tier.QUICK),
        (ago(minutes=60), ago(hours=23), Tier.HOURLY),
        (ago(minutes=1), ago(hours=24), Tier.DAILY),
        (None, ago(hours=1), Tier.HOURLY),
        (ago(minutes=1), None, Tier.DAILY),
        (None, None, Tier.DAILY),
        (ago(seconds=-1), ago(hours=1), Tier.HOURLY),
        (ago(minutes=1), ago(seconds=-1), Tier.DAILY),
        (NOW, NOW, Tier.QUICK),
    ],
)
def test_a_tier_is_due_when_its_time_has_passed_or_its_stamp_says_nothing(
    hourly: datetime | None, daily: datetime | None, due: Tier
) -> None:
    """At least 60 minutes, at least 24 hours, never, or in the future; the quick stamp makes no difference."""
    for quick in (None, NOW, ago(days=9), ago(days=-9)):
        assert due_tier(Stamps(quick, hourly, daily), NOW) is due


@given(_AGES, _AGES, _AGES)
def test_the_highest_due_tier_is_the_one_returned(
    quick: datetime | None, hourly: datetime | None, daily: datetime | None
) -> None:
    """Property: no higher tier is due, and the returned one is (or is quick)."""
    stamps = Stamps(quick=quick, hourly=hourly, daily=daily)
    due = {
        tier
        for tier, period in PERIODS.items()
        if (stamp := stamps.stamp_of(tier)) is None or stamp > NOW or NOW - stamp >= period
    }
    assert due_tier(stamps, NOW) is max([*due, Tier.QUICK], key=list(Tier).index)


def test_a_clock_change_makes_no_hour_longer() -> None:
    """01:30 to 03:15 on the night of the change is 45 minutes in Berlin, though the clock says 1 h 45 min."""
    berlin = ZoneInfo("Europe/Berlin")
    stamp, now = datetime(2026, 3, 29, 1, 30, tzinfo=berlin), datetime(2026, 3, 29, 3, 15, tzinfo=berlin)
    assert due_tier(Stamps(None, stamp, stamp), now) is Tier.QUICK


def test_a_time_without_a_zone_is_refused() -> None:
    """What is due by it cannot be told."""
    with pytest.raises(ValueError, match="no zone"):
        due_tier(Stamps(), datetime(2026, 3, 1, 12))
