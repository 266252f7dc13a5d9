"""The watchdog alone, by a clock that is handed in: what is due when."""

from __future__ import annotations

import threading

import pytest

from bot.agent.watchdog import Expired, Watchdog
from tests.tables import each_row


class Hands:
    """A clock that stands until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def watchdog(hands: Hands, *, total_s: float | None = 900.0, stall_s: float | None = 60.0) -> Watchdog:
    """Return a watchdog that is not started: nothing but its judgement."""
    return Watchdog(total_s=total_s, stall_s=stall_s, monotonic=hands)


def test_ten_minutes_of_dripping_chunks_are_no_stall() -> None:
    """A chunk each 59.9 seconds, for ten minutes; then silence, and it is due to the second."""
    hands = Hands()
    watch = watchdog(hands)
    with watch.listening():
        while hands.now < 1000 + 600 - 59.9:
            hands.now += 59.9
            assert watch.due() is None
            watch.touch()
        hands.now += 59.99
        assert watch.due() is None
        hands.now += 0.01
        assert watch.due() == "stall"


def test_the_total_runs_on_whatever_happens() -> None:
    """Chunks, requests and silence of ours do not stop it, and it wins over a stall."""
    hands = Hands()
    watch = watchdog(hands)
    for _ in range(9):
        with watch.listening(), watch.deaf():
            hands.now += 99.9
            watch.touch()
            assert watch.due() is None
    with watch.listening():
        hands.now += 60.9
        assert watch.due() == "total"
    assert watch.left_s() == 0.0


def test_between_requests_nothing_can_stall() -> None:
    """Tools take their time."""
    hands = Hands()
    watch = watchdog(hands)
    with watch.listening():
        pass
    hands.now += 300
    assert watch.due() is None


def test_each_request_starts_its_silence_anew() -> None:
    """What the last one left over does not count."""
    hands = Hands()
    watch = watchdog(hands)
    for _ in range(4):
        with watch.listening():
            hands.now += 59
            assert watch.due() is None


@each_row("total_s, stall_s", [(None, None), (None, 60.0), (900.0, None)])
def test_a_limit_that_is_off_is_never_due(total_s: float | None, stall_s: float | None) -> None:
    """Each one by itself."""
    hands = Hands()
    watch = watchdog(hands, total_s=total_s, stall_s=stall_s)
    with watch.listening():
        hands.now += 10_000
        assert watch.due() == ("stall" if stall_s else "total" if total_s else None)


def test_a_stall_is_told_once_and_the_total_for_ever() -> None:
    """A stall may be retried, the end of the run may not."""
    hands = Hands()
    watch = watchdog(hands)
    hands.now += 900
    for _ in range(2):
        with pytest.raises(Expired) as caught:
            watch.check()
        assert caught.value.kind == "total"


def test_waiting_ends_with_the_run() -> None:
    """A cancel wakes whoever waits to ask again."""
    cancel = threading.Event()
    watch = Watchdog(total_s=None, stall_s=None, monotonic=Hands(), cancel=cancel)
    with watch:
        threading.Timer(0.1, cancel.set).start()
        with pytest.raises(Expired, match="cancel"):
            watch.sleep(30)
