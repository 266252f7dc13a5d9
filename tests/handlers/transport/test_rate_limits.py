"""Posts leave at the pace Slack allows, what a person approved first, and nobody waits for long without being told."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Unavailable
from handlers.transport.rate_limits import CARD, LINE, MAX_KEPT, REPLY, RateLimit, RateLimiter

WAIT_S = 10.0


class Time:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def pacer(time: Time, *, burst: int = 1) -> RateLimiter:
    return RateLimiter(per_second=1.0, burst=burst, monotonic=time.monotonic, wait=time.wait)


def test_after_the_burst_one_a_second() -> None:
    """Three at once, then each a second after the one before."""
    time = Time()
    posts = pacer(time, burst=3)
    for _ in range(6):
        posts.wait_turn("C1", patience_s=5)
    assert time.waits == [1.0, 1.0, 1.0]


def test_channels_do_not_wait_for_each_other() -> None:
    """Slack counts each by itself."""
    time = Time()
    posts = pacer(time)
    for channel in ("C1", "C2", "C3"):
        posts.wait_turn(channel)
    assert time.waits == []


def test_what_would_take_too_long_is_refused_at_once() -> None:
    """With how long; the refused one takes no slot from the next."""
    time = Time()
    posts = pacer(time)
    posts.hold("C1", 30)
    with pytest.raises(Unavailable, match="try again in 30 s") as caught:
        posts.wait_turn("C1", patience_s=5)
    assert caught.value.retry_after_s == 30
    assert time.waits == []
    time.now += 30
    posts.wait_turn("C1")
    assert time.waits == []


def test_a_hold_is_never_shortened() -> None:
    """The longer of two refusals counts."""
    pace = RateLimit(per_second=1, burst=1)
    pace.hold(0.0, 30)
    pace.hold(1.0, 2)
    assert pace.wait_s(1.0) == 29


def test_progress_leaves_room_for_what_matters() -> None:
    """With half of the burst to spare it is refused while a state still goes at once."""
    time = Time()
    updates = pacer(time, burst=4)
    updates.wait_turn("all", spare=2)
    updates.wait_turn("all", spare=2)
    with pytest.raises(Unavailable):
        updates.wait_turn("all", spare=2)
    updates.wait_turn("all")
    updates.wait_turn("all")
    with pytest.raises(Unavailable):
        updates.wait_turn("all")


def test_who_was_approved_goes_before_who_came_first() -> None:
    """A reply overtakes the lines and cards that wait for the same channel; equals go as they came."""
    order: list[str] = []
    asleep, go = threading.Semaphore(0), threading.Event()
    time = Time()

    def wait(seconds: float) -> None:
        asleep.release()
        assert go.wait(WAIT_S)
        time.now = max(time.now, 1_000.0 + len(order) + 1)
        threading.Event().wait(0.002)

    posts = RateLimiter(per_second=1.0, burst=1, monotonic=time.monotonic, wait=wait)
    posts.wait_turn("C1")

    def post(name: str, rank: int) -> None:
        posts.wait_turn("C1", rank=rank, patience_s=60)
        order.append(name)

    threads = []
    for name, rank in (("line", LINE), ("card", CARD), ("second card", CARD), ("reply", REPLY)):
        threads.append(threading.Thread(target=post, args=(name, rank), daemon=True))
        threads[-1].start()
        assert asleep.acquire(timeout=WAIT_S)
    go.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert order == ["reply", "card", "second card", "line"]


def test_channels_of_long_ago_are_forgotten() -> None:
    """The memory is bounded by the channels in use."""
    time = Time()
    posts = pacer(time)
    for number in range(MAX_KEPT):
        posts.wait_turn(f"C{number}")
    time.now += 60
    posts.wait_turn("C-new")
    assert len(posts._paces) == 1


@given(
    asks=st.lists(st.floats(min_value=0, max_value=3), max_size=60),
    burst=st.integers(min_value=1, max_value=5),
)
def test_no_window_holds_more_than_burst_and_rate(asks: list[float], burst: int) -> None:
    """However the asks are spread: in any stretch of t seconds at most burst + t leave."""
    pace, now, left = RateLimit(per_second=1, burst=burst), 0.0, []
    for pause in asks:
        now += pause
        now += pace.wait_s(now)
        assert pace.wait_s(now) < 1e-6
        pace.take(now)
        left.append(now)
    for first in range(len(left)):
        for last in range(first, len(left)):
            assert last - first + 1 <= burst + (left[last] - left[first]) + 1e-6
