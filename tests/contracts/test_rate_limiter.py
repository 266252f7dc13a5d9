"""Posts leave at the pace Slack allows, what a person approved first, and nobody waits for long without being told.

Run over a process's own limiter and over processes that share their rates in a database; a rate is one in 100 s, so
that the seconds a busy machine takes change nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from bot.errors import Unavailable
from bot.ports.system import Rate, SharedPace
from handlers.transport.rate_limits import CARD, LINE, REPLY, RateLimiter
from tests.postgres import new_namespace, shared_database

INTERVAL_S: Final = 100.0
NEAR_S: Final = 30.0
"""How long a test may take."""
PATIENCE_S: Final = 1_000.0
WAIT_S: Final = 120.0


class Time:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []
        self.shared: SharedPace | None = None

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        if seconds > NEAR_S:  # less is what the test itself took
            self.waits.append(seconds)
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class DatabaseTime(Time):
    """The same, for which rows grow older."""

    def __init__(self) -> None:
        super().__init__()
        from bot.adapters.storage.postgres.postgres_leases import PostgresPace

        self._namespace = new_namespace()
        self.shared = PostgresPace(shared_database(), self._namespace)

    def pass_by(self, seconds: float) -> None:
        super().pass_by(seconds)
        with shared_database().writing() as connection:
            connection.execute(
                "UPDATE triage_paces SET full_at = full_at - make_interval(secs => %(s)s), "
                "held_until = held_until - make_interval(secs => %(s)s) WHERE namespace = %(namespace)s",
                {"s": seconds, "namespace": self._namespace},
            )


TIMES: Final[Mapping[str, Callable[[], Time]]] = {"process": Time, "database": DatabaseTime}


@pytest.fixture(params=TIMES)
def time(request: pytest.FixtureRequest) -> Time:
    """Return the time of one process, or of all that share a database."""
    return TIMES[request.param]()


class Pacer:
    """One process and one rate."""

    def __init__(self, time: Time, burst: int, wait: Callable[[float], object]) -> None:
        self.rate = Rate("posts", 1 / INTERVAL_S, burst)
        self.limiter = RateLimiter(time.shared, monotonic=time.monotonic, wait=wait)

    def wait_turn(self, key: str, *, rank: int = 0, patience_s: float = 0.0, spare: int = 0) -> None:
        self.limiter.wait_turn(self.rate, key, rank=rank, patience_s=patience_s, spare=spare)

    def hold(self, key: str, seconds: float) -> None:
        self.limiter.hold(self.rate, key, seconds)


def pacer(time: Time, *, burst: int = 1, wait: Callable[[float], object] | None = None) -> Pacer:
    return Pacer(time, burst, wait or time.wait)


def near(*waits_s: float) -> object:
    return pytest.approx(list(waits_s), abs=NEAR_S)


def test_after_the_burst_one_at_a_time(time: Time) -> None:
    """Three at once, then each an interval after the one before."""
    posts = pacer(time, burst=3)
    for _ in range(6):
        posts.wait_turn("C1", patience_s=PATIENCE_S)
    assert time.waits == near(*[INTERVAL_S] * 3)


def test_channels_do_not_wait_for_each_other(time: Time) -> None:
    """Slack counts each by itself."""
    posts = pacer(time)
    for channel in ("C1", "C2", "C3"):
        posts.wait_turn(channel)
    assert time.waits == []


def test_what_would_take_too_long_is_refused_at_once(time: Time) -> None:
    """With how long; the refused one takes no slot from the next."""
    posts = pacer(time)
    posts.hold("C1", 3_000)
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"try again in [23][0-9]{3} s") as caught:
            posts.wait_turn("C1", patience_s=PATIENCE_S)
        assert caught.value.retry_after_s == pytest.approx(3_000, abs=NEAR_S)
    assert time.waits == []
    time.pass_by(3_000)
    posts.wait_turn("C1")


def test_a_hold_is_never_shortened(time: Time) -> None:
    """The longer of two refusals counts."""
    posts = pacer(time)
    posts.hold("C1", 500)
    posts.hold("C1", 50)
    posts.wait_turn("C1", patience_s=PATIENCE_S)
    assert time.waits == near(500)


def test_progress_leaves_room_for_what_matters(time: Time) -> None:
    """With half of the burst to spare it is refused while a state still goes at once."""
    updates = pacer(time, burst=4)
    updates.wait_turn("all", spare=2)
    updates.wait_turn("all", spare=2)
    with pytest.raises(Unavailable):
        updates.wait_turn("all", spare=2)
    updates.wait_turn("all")
    updates.wait_turn("all")
    with pytest.raises(Unavailable):
        updates.wait_turn("all")


def test_who_was_approved_goes_before_who_came_first(time: Time) -> None:
    """A reply overtakes the lines and cards that wait for the same channel; equals go as they came."""
    order: list[str] = []
    asleep, go = threading.Semaphore(0), threading.Event()
    moving = threading.Lock()

    def wait(seconds: float) -> None:
        asleep.release()
        assert go.wait(WAIT_S)
        with moving:
            time.pass_by(max(0.0, 1_000.0 + (len(order) + 1) * INTERVAL_S - time.now))
        threading.Event().wait(0.002)

    posts = pacer(time, wait=wait)
    posts.wait_turn("C1")

    def post(name: str, rank: int) -> None:
        posts.wait_turn("C1", rank=rank, patience_s=100 * INTERVAL_S)
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


class TestShared:
    """What only those can do that share a database."""

    def test_what_one_process_sent_all_have_sent(self) -> None:
        """The second waits for the slots after those of the first, and takes them in turn with it."""
        time = DatabaseTime()
        one, other = pacer(time, burst=2), pacer(time, burst=2)
        one.wait_turn("C1")
        other.wait_turn("C1")
        with pytest.raises(Unavailable):
            one.wait_turn("C1")
        one.wait_turn("C1", patience_s=PATIENCE_S)
        other.wait_turn("C1", patience_s=PATIENCE_S)
        assert time.waits == near(INTERVAL_S, INTERVAL_S)

    def test_a_refusal_holds_the_others_too(self) -> None:
        """As long as Slack asked."""
        time = DatabaseTime()
        one, other = pacer(time), pacer(time)
        one.hold("C1", 700)
        other.wait_turn("C2")
        other.wait_turn("C1", patience_s=PATIENCE_S)
        assert time.waits == near(700)
