"""The arithmetic of a rate; how one waits for it is in tests/contracts/test_rate_limiter.py."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.ports.system import Rate
from handlers.transport.rate_limits import MAX_KEPT, RateLimit, RateLimiter


def test_a_hold_is_never_shortened() -> None:
    """The longer of two refusals counts."""
    pace = RateLimit(per_second=1, burst=1)
    pace.hold(0.0, 30)
    pace.hold(1.0, 2)
    assert pace.wait_s(1.0) == 29


def test_channels_of_long_ago_are_forgotten() -> None:
    """The memory is bounded by the channels in use."""
    now = [1_000.0]
    posts = RateLimiter(monotonic=lambda: now[0])
    for number in range(MAX_KEPT):
        posts.wait_turn(Rate("posts", 1.0, 1), f"C{number}")
    now[0] += 60
    posts.wait_turn(Rate("posts", 1.0, 1), "C-new")
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
