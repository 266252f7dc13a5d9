"""The chat's time is this machine's, corrected by what the chat says of its own."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

from bot.adapters.clocks import ChatClock, shared_clock
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.tables import each_row


@each_row("ahead", [timedelta(hours=24), timedelta(minutes=-2), timedelta(days=400)])
def test_a_wrong_clock_is_corrected_and_said_once(ahead: timedelta) -> None:
    """Ahead or behind; set right meanwhile, it is believed again."""
    said: list[str] = []
    ours = FakeClock(NOW + ahead)
    clock = ChatClock(ours, said.append)
    for _ in range(2):
        clock.note(format_datetime(NOW, usegmt=True))
    assert (clock.now(), clock.ahead, len(said)) == (NOW, ahead, 1)
    assert ("ahead of Slack" if ahead > timedelta() else "behind Slack") in said[0]
    ours.at = NOW
    clock.note(format_datetime(NOW, usegmt=True))
    assert (clock.now(), clock.ahead) == (NOW, timedelta())


@each_row(
    "hours, told",
    [
        ((0, 24, 24), ["1 d ahead of"]),
        ((24, 0, 24), ["1 d ahead of", "1 d ahead of"]),
        ((24, -2, -2), ["1 d ahead of", "2 h behind"]),
        ((0.01, 0.02, 0.03, 0.04), ["1 min ahead of"]),
    ],
)
def test_a_clock_that_goes_wrong_again_or_the_other_way_is_said_again(
    hours: tuple[float, ...], told: list[str]
) -> None:
    """One that only drifts on is not."""
    said: list[str] = []
    ours = FakeClock(NOW)
    clock = ChatClock(ours, said.append)
    for ahead in hours:
        ours.at = NOW + timedelta(hours=ahead)
        clock.note(format_datetime(NOW, usegmt=True))
    assert [line.removeprefix("This machine's clock is ").partition(" Slack")[0] for line in said] == told


@each_row("date", [None, "", "yesterday", "Sun, 22 Nov 2026 09:00:00"])
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
    assert clock.ahead == timedelta()


def test_a_clock_that_is_wrong_is_corrected_and_said_once() -> None:
    """Also after it was set; a slow answer is no difference."""
    clock = shared_clock(FakeClock(NOW))
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
