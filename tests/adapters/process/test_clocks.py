"""The chat's time is this machine's, corrected by what the chat says of its own."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from bot.adapters.process.clocks import ChatClock, SharedClock
from tests.builders import NOW
from tests.fakes import FakeClock


@pytest.mark.parametrize("ahead", [timedelta(hours=24), timedelta(minutes=-2), timedelta(days=400)])
def test_a_wrong_clock_is_corrected_and_said_once(ahead: timedelta) -> None:
    """Ahead or behind; set right meanwhile, it is believed again."""
    said: list[str] = []
    ours = FakeClock(NOW + ahead)
    clock = ChatClock(ours, said.append)
    for _ in range(2):
        clock.note(format_datetime(NOW, usegmt=True))
    assert (clock.now(), clock.ahead(), len(said)) == (NOW, ahead, 1)
    assert ("ahead of Slack" if ahead > timedelta() else "behind Slack") in said[0]
    ours.at = NOW
    clock.note(format_datetime(NOW, usegmt=True))
    assert (clock.now(), clock.ahead()) == (NOW, timedelta())


@pytest.mark.parametrize("date", [None, "", "yesterday", "Sun, 22 Nov 2026 09:00:00"])
def test_what_is_no_time_changes_nothing(date: str | None) -> None:
    """A proxy may drop or mangle the header; the machine's clock is all there is then."""
    said: list[str] = []
    clock = ChatClock(FakeClock(NOW), said.append)
    clock.note(date)
    assert (clock.now(), said) == (NOW, [])


def test_seconds_are_no_difference() -> None:
    """The header knows whole seconds, and the answer takes a moment."""
    clock = ChatClock(FakeClock(NOW + timedelta(seconds=3)), lambda _: None)
    clock.note(format_datetime(NOW, usegmt=True))
    assert clock.ahead() == timedelta()


def test_a_clock_that_is_wrong_is_corrected_and_said_once() -> None:
    """Also after it was set; a slow answer is no difference."""
    clock = SharedClock(FakeClock(NOW))
    assert clock.correct(timedelta(milliseconds=900)) is None
    assert clock.now() == NOW
    said = clock.correct(timedelta(minutes=-5))
    assert said is not None
    assert "5 min behind the database's" in said
    assert clock.now() == NOW + timedelta(minutes=5)
    assert clock.correct(timedelta(minutes=-5, milliseconds=10)) is None
    assert clock.now() == NOW + timedelta(minutes=5)
    assert clock.correct(timedelta(milliseconds=10)) is None
    assert clock.now() == NOW
