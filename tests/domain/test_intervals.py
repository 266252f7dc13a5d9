"""Intervals are read strictly and written so that they are read back equal."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.intervals import format_interval, parse_interval
from bot.errors import ConfigError
from tests.tables import each_row


@each_row(
    "text, seconds",
    [("30m", 1800), ("1h30m", 5400), ("45s", 45), ("2d", 172_800), ("1d2h3m4s", 93_784), ("90m", 5400), ("0h5m", 300)],
)
def test_an_interval_is_the_sum_of_its_units(text: str, seconds: int) -> None:
    """Days, hours, minutes, seconds; a unit may run past the next one."""
    assert parse_interval(text) == timedelta(seconds=seconds)


@each_row(
    "text",
    [
        *("", " ", "0m", "0h0s", "-5m", "+5m", "5", "1.5h", "1,5h", "30 m", " 30m", "30m ", "30m\n", "m30", "m"),
        *("1h1h", "30m1h", "30M", "1w", "30min", "½h", "٣m", "1_0m", "0x1m", "1e3s", "never"),
        *("9" * 5000 + "d", "9" * 18 + "d", "1000000000d"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    """The error shows what was written (cut to a line) and what would be right."""
    with pytest.raises(ConfigError, match='write for example "45s"') as refusal:
        parse_interval(text)
    assert len(str(refusal.value)) < 200


@each_row("value", [None, 30, 1.5, True, ["30m"], timedelta(minutes=30)])
def test_a_yaml_value_that_is_no_text_is_refused_too(value: object) -> None:
    """`every: 30` has no unit."""
    with pytest.raises(ConfigError, match="is not an interval"):
        parse_interval(value)  # type: ignore[arg-type]


@given(st.integers(1, int(timedelta.max.total_seconds()) - 1))
def test_an_interval_survives_being_written_and_read(seconds: int) -> None:
    """Property: parse is the inverse of format, for every positive number of whole seconds."""
    interval = timedelta(seconds=seconds)
    assert parse_interval(format_interval(interval)) == interval


@given(st.text("0123456789dhms. -", max_size=12) | st.text(max_size=12))
def test_any_text_is_an_interval_or_a_config_error(text: str) -> None:
    """Property: no other exception, never a duration that is not positive, and writing it back means the same."""
    try:
        interval = parse_interval(text)
    except ConfigError:
        return
    assert interval > timedelta(0)
    assert parse_interval(format_interval(interval)) == interval
