"""Keeps the bot's posts, card updates and reactions within Slack's rates, so that a refusal (429) is rare.

Each channel has a rate of posts; card updates share one rate for the whole workspace, and so do reactions. Several
processes share their rates through their database; if it does not answer, each keeps to the rates by itself, which is
logged when it begins. Who would wait longer than their patience is refused at once, with the time it would have taken.
Source: https://docs.slack.dev/apis/web-api/rate-limits (posts about 1/s a channel, chat.update Tier 3: 50/min;
bursts).
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from bot.errors import StoreError, Unavailable
from bot.ports.system import Rate, SharedPace

log = logging.getLogger(__name__)

ASK_AGAIN_S: Final = 5.0
"""After a database did not answer."""

REPLY, CARD, LINE = 0, 1, 2
"""Who goes first where several wait for one channel: what a person approved, then cards, then lines."""

POSTS_PER_SECOND: Final = 1.0
"""Slack's own limit, for each channel."""

POST_BURST: Final = 3
UPDATE_BURST: Final = 20
REACTION_BURST: Final = 10

UPDATES: Final = Rate("updates", 50 / 60, UPDATE_BURST)
REACTIONS: Final = Rate("reactions", 20 / 60, REACTION_BURST)
"""Slack's rate for removing them; of each method."""

MAX_KEPT: Final = 1_000
MIN_PATIENCE_S: Final = 0.1
"""For what others share: so that the milliseconds between two clocks refuse nobody."""

Key = tuple[str, str]
"""A rate's name, and what it is counted for: a channel, a method."""

Ticket = tuple[int, int]


class RateLimit:
    """The arithmetic of one rate: `burst` at once, then one every `1 / per_second` s; the times are given, in seconds.

    >>> pace = RateLimit(per_second=1, burst=2)
    >>> [pace.wait_s(0.0), pace.take(0.0), pace.wait_s(0.0), pace.take(0.0), pace.wait_s(0.25)]
    [0.0, None, 0.0, None, 0.75]
    """

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._interval_s, self._burst = 1 / per_second, burst
        self._full_at = 0.0  # when all of the burst will be there again
        self._held_until = 0.0

    def wait_s(self, now: float, *, ahead: int = 0, spare: int = 0) -> float:
        """Return how long until one more may go after `ahead` others, with `spare` of the burst left to the rest."""
        after_others = max(self._full_at, now) + ahead * self._interval_s
        slot = after_others - (self._burst - 1 - spare) * self._interval_s
        return max(0.0, slot - now, self._held_until - now)

    def take(self, now: float) -> None:
        """Count one."""
        self._full_at = max(self._full_at, now) + self._interval_s

    def give_back(self) -> None:
        """Count one less: it did not go."""
        self._full_at -= self._interval_s

    def hold(self, now: float, seconds: float) -> None:
        """Let nothing go for so long, as Slack asked."""
        self._held_until = max(self._held_until, now + seconds)

    def is_idle(self, now: float) -> bool:
        """Whether forgetting it would change nothing."""
        return max(self._full_at, self._held_until) <= now


class RateLimiter:
    """One pace for each key of a rate, whoever asks from whatever thread; first by rank, then by arrival.

    Whose turn it is in this process asks for a slot among all processes, and the others here wait until it has come:
    so one who is more urgent waits for at most one of its own process. `posts` is the rate of each channel.
    """

    def __init__(
        self,
        shared: SharedPace | None = None,
        *,
        posts_per_second: float = POSTS_PER_SECOND,
        monotonic: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self.posts = Rate("posts", posts_per_second, POST_BURST)
        self._shared, self.monotonic, self._wait = shared, monotonic, wait
        self._ask_shared_at = 0.0
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._paces: dict[Key, RateLimit] = {}
        self._waiting: defaultdict[Key, list[Ticket]] = defaultdict(list)

    def wait_turn(self, rate: Rate, name: str, *, rank: int = 0, patience_s: float = 0.0, spare: int = 0) -> None:
        """Return when one more may go to `name`, with `spare` of the burst left to the rest.

        Raises:
            Unavailable: that would take longer than `patience_s`; `retry_after_s` says how long.
        """
        give_up_at = self.monotonic() + patience_s
        key, ticket = (rate.name, name), (rank, next(self._numbers))
        with self._lock:
            insort(self._waiting[key], ticket)
        try:
            while (wait_s := self._go_or_wait_s(rate, key, ticket, spare)) > 0:
                if self.monotonic() + wait_s > give_up_at:
                    raise _too_many(wait_s)
                self._wait(wait_s)
        finally:
            self._leave(key, ticket)
        self._wait_for_others(rate, key, max(MIN_PATIENCE_S, give_up_at - self.monotonic()), spare)

    def hold(self, rate: Rate, name: str, seconds: float) -> None:
        """Let nothing go to `name` for so long, from any process."""
        with self._lock:
            self._pace(rate, (rate.name, name)).hold(self.monotonic(), seconds)
        self._ask_shared(lambda shared: shared.hold(rate, name, seconds))

    def _wait_for_others(self, rate: Rate, key: Key, patience_s: float, spare: int) -> None:
        """Return when the slot has come that is free among all processes; raises Unavailable."""
        wait_s = self._ask_shared(lambda shared: shared.reserve(rate, key[1], patience_s=patience_s, spare=spare))
        if not wait_s or wait_s <= 0:
            return
        with self._lock:
            if wait_s <= patience_s:
                self._pace(rate, key).hold(self.monotonic(), wait_s)
            else:
                self._pace(rate, key).give_back()
        if wait_s > patience_s:
            raise _too_many(wait_s)
        self._wait(wait_s)

    def _ask_shared(self, ask: Callable[[SharedPace], float | None]) -> float | None:
        """Return what those that share the rates answer; None where there are none, or the database is away."""
        if self._shared is None or self.monotonic() < self._ask_shared_at:
            return None
        try:
            return ask(self._shared)
        except StoreError as error:
            self._ask_shared_at = self.monotonic() + ASK_AGAIN_S
            log.warning("posts keep to this process's own rate: %s", error, extra={"action": "pace_alone"})
            return None

    def _go_or_wait_s(self, rate: Rate, key: Key, ticket: Ticket, spare: int) -> float:
        """Take the slot if it is there and return 0, else return how long to wait before asking again."""
        with self._lock:
            now, pace = self.monotonic(), self._pace(rate, key)
            wait_s = pace.wait_s(now, ahead=self._waiting[key].index(ticket), spare=spare)
            if wait_s <= 0:
                pace.take(now)
                self._waiting[key].remove(ticket)
            return wait_s

    def _leave(self, key: Key, ticket: Ticket) -> None:
        with self._lock:
            if ticket in self._waiting[key]:
                self._waiting[key].remove(ticket)
            if not self._waiting[key]:
                del self._waiting[key]

    def _pace(self, rate: Rate, key: Key) -> RateLimit:
        if key not in self._paces and len(self._paces) >= MAX_KEPT:
            now = self.monotonic()
            self._paces = {known: pace for known, pace in self._paces.items() if not pace.is_idle(now)}
        return self._paces.setdefault(key, RateLimit(per_second=rate.per_second, burst=rate.burst))


def _too_many(wait_s: float) -> Unavailable:
    return Unavailable(f"too many messages at once; try again in {math.ceil(wait_s)} s", retry_after_s=wait_s)
