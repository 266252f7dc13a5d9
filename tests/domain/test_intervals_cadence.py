"""Slots keep their phase for ever, and sessions do not beat all at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.intervals import due_slot, next_slot, offset_of, slot_of

HALF_HOUR = timedelta(minutes=30)
_EVERY = st.integers(1, 400_000).map(lambda seconds: timedelta(seconds=seconds))
_NOW = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(st.text(), _EVERY, _NOW)
def test_a_slot_is_the_latest_one_and_the_next_is_one_interval_later(
    session: str, every: timedelta, now: datetime
) -> None:
    """Property: slot <= now < next = slot + every; a slot is its own slot; slots are whole seconds."""
    slot = slot_of(session, every, now)
    assert slot <= now < next_slot(session, every, now) == slot + every
    assert slot_of(session, every, slot) == slot
    assert slot_of(session, every, slot - timedelta(microseconds=1)) == slot - every
    assert slot.microsecond == 0
    assert timedelta(0) <= offset_of(session, every) < every


def test_the_phase_is_the_one_written_down_here() -> None:
    """A new release must not shift it: this is the value of the first one."""
    slot = slot_of("api", HALF_HOUR, datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert slot == datetime(2026, 3, 1, 11, 30, tzinfo=UTC) + offset_of("api", HALF_HOUR)
    assert offset_of("api", HALF_HOUR) == timedelta(seconds=145)


def test_sessions_spread_over_the_interval() -> None:
    """Of a hundred, no minute of thirty gets more than a tenth."""
    minutes = [offset_of(f"session-{number}", HALF_HOUR) // timedelta(minutes=1) for number in range(100)]
    assert max(minutes.count(minute) for minute in range(30)) <= 10
    assert len(set(minutes)) > 20


def test_missed_slots_make_one_beat() -> None:
    """The latest one; after it has run nothing is due until the next."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    slot = slot_of("api", HALF_HOUR, now)
    assert due_slot("api", HALF_HOUR, slot - 7 * HALF_HOUR, now) == slot
    assert due_slot("api", HALF_HOUR, slot, now) is None
    assert due_slot("api", HALF_HOUR, slot, slot + HALF_HOUR) == slot + HALF_HOUR
    assert due_slot("api", HALF_HOUR, None, now) == slot


def test_a_last_beat_in_the_future_blocks_nothing() -> None:
    """The clock was set back: the latest slot is due, once."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    slot = slot_of("api", HALF_HOUR, now)
    assert due_slot("api", HALF_HOUR, now + timedelta(days=9), now) == slot
    assert due_slot("api", HALF_HOUR, slot, now) is None
