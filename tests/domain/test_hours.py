"""Active hours by the wall clock, around midnight and through clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from tests.tables import each_row

_TIMES = st.integers(0, 1439).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")
_ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns"]
)
_MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))


def at(text: str) -> datetime:
    """A moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@each_row(
    "start, end, clock, inside",
    [
        ("08:00", "22:00", "08:00", True),
        ("08:00", "22:00", "21:59:59.999999", True),
        ("08:00", "22:00", "22:00", False),
        ("22:00", "06:00", "22:00", True),
        ("22:00", "06:00", "00:00", True),
        ("22:00", "06:00", "06:00", False),
        ("08:00", "24:00", "23:59:59", True),
        ("08:00", "24:00", "00:00", False),
        ("00:00", "24:00", "23:59:59", True),
    ],
)
def test_the_start_is_inside_and_the_end_is_not(start: str, end: str, clock: str, inside: bool) -> None:
    """Also where the window wraps past midnight or ends with the day."""
    assert ActiveHours(start, end, "UTC").contains(at(f"2026-03-01T{clock}")) is inside


def test_the_same_wall_clock_hour_is_another_hour_in_summer() -> None:
    """Berlin's 08:00 is 07:00 UTC in winter, 06:00 UTC in summer."""
    hours = ActiveHours("08:00", "22:00", "Europe/Berlin")
    assert [hours.contains(at(f"2026-01-15T{clock}")) for clock in ("06:00", "07:00")] == [False, True]
    assert [hours.contains(at(f"2026-07-15T{clock}")) for clock in ("06:00", "05:59")] == [True, False]


def test_in_spring_the_skipped_hour_is_never_inside() -> None:
    """On 2026-03-29 Berlin goes from 01:59 to 03:00; a window that starts in the gap opens at 03:00."""
    assert not any(
        ActiveHours("02:00", "03:00", "Europe/Berlin").contains(at("2026-03-29T00:00") + timedelta(minutes=minute))
        for minute in range(180)
    )
    late = ActiveHours("02:30", "06:00", "Europe/Berlin")
    assert [late.contains(at(f"2026-03-29T{clock}")) for clock in ("00:59", "01:00")] == [False, True]
    assert late.next_opening(at("2026-03-28T20:00")) == at("2026-03-29T01:00")


def test_in_autumn_the_repeated_hour_counts_both_times() -> None:
    """On 2026-10-25 Berlin shows 02:00-02:59 twice, an hour apart."""
    hours = ActiveHours("02:00", "03:00", "Europe/Berlin")
    inside = [
        minute for minute in range(-60, 240) if hours.contains(at("2026-10-25T00:00") + timedelta(minutes=minute))
    ]
    assert inside == list(range(120))


def test_a_window_swallowed_by_the_clock_change_opens_the_day_after() -> None:
    """Nothing to open on 2026-03-29; 00:15 UTC (02:15 in summer) the day after."""
    hours = ActiveHours("02:15", "02:45", "Europe/Berlin")
    assert hours.next_opening(at("2026-03-28T12:00")) == at("2026-03-30T00:15")


@given(_TIMES, _TIMES, _ZONES, _MOMENTS)
def test_the_window_and_its_complement_share_the_day(start: str, end: str, zone: str, moment: datetime) -> None:
    """Property: at every moment exactly one of (start, end) and (end, start) is open."""
    if start != end:
        assert ActiveHours(start, end, zone).contains(moment) != ActiveHours(end, start, zone).contains(moment)


@given(_TIMES, _TIMES, _ZONES, _MOMENTS)
def test_the_next_opening_is_the_first_moment_inside(start: str, end: str, zone: str, moment: datetime) -> None:
    """Property: it is inside, not before the moment, and the minute before it is not inside."""
    if start == end:
        return
    hours = ActiveHours(start, end, zone)
    opening = hours.next_opening(moment)
    assert opening >= moment
    assert hours.contains(opening)
    assert (opening == moment) == hours.contains(moment)
    assert opening == moment or not hours.contains(opening - timedelta(microseconds=1))


@each_row(
    "start, end, zone, message",
    [
        ("8:00", "22:00", "UTC", r"start is '8:00'; write a time .* \"08:00\""),
        ("08:00", "24:30", "UTC", "end is '24:30'"),
        ("08:00", "22:00:00", "UTC", "end is"),
        ("24:00", "06:00", "UTC", 'starts at "00:00"'),
        ("08:00", "08:00", "UTC", 'whole day write "00:00" and "24:00"'),
        (None, "22:00", "UTC", "start is None"),
        ("08:00", 1320, "UTC", 'end is the number 1320, which is how YAML reads 22:00 without quotes; write "22:00"'),
        ("08:00", "22:00", "Mars/Base", "timezone 'Mars/Base' is unknown"),
        ("08:00", "22:00", "../etc/passwd", "is unknown"),
        ("08:00", "22:00", "a\0b", "is unknown"),
        ("08:00", "22:00", None, "timezone None is unknown"),
    ],
)
def test_a_bad_value_is_refused_with_what_would_be_right(
    start: object, end: object, zone: object, message: str
) -> None:
    """Whatever YAML made of what was written."""
    with pytest.raises(ConfigError, match=message):
        ActiveHours(start, end, zone)  # type: ignore[arg-type]


def test_a_moment_without_a_zone_is_refused() -> None:
    """A guess would be an hour or a day off."""
    hours = ActiveHours("08:00", "22:00", "UTC")
    for ask in (hours.contains, hours.next_opening):
        with pytest.raises(ValueError, match="no zone"):
            ask(datetime(2026, 3, 1, 12))


@each_row(
    "start, end, moment, inside",
    [
        ("09:00", "17:00", "2026-11-20T12:00", True),
        ("09:00", "17:00", "2026-11-21T12:00", False),
        ("22:00", "06:00", "2026-11-21T05:59", True),
        ("22:00", "06:00", "2026-11-21T22:00", False),
        ("22:00", "06:00", "2026-11-23T05:59", False),
    ],
)
def test_a_window_belongs_to_the_day_it_began_on(start: str, end: str, moment: str, inside: bool) -> None:
    """Monday to Friday: Friday's night ends on Saturday morning, Sunday's never begins."""
    assert ActiveHours(start, end, "UTC", frozenset(range(5))).contains(at(moment)) is inside
