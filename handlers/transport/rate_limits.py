"""Keeps the bot's posts, card updates and reactions within Slack's rates, so that a refusal (429) is rare.

Each channel has a rate of posts; card updates share one rate for the whole workspace, and so do reactions. Several
processes share their rates through their database; if it does not answer, each keeps to the rate by itself, which is
logged when it begins and ends. Who would wait longer than their patience is refused at once, with the time it would
have taken.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from bot.errors import StoreError, Unavailable
from bot.ports.replicas import Rate, SharedPace

log = logging.getLogger(__name__)

ASK_AGAIN_S: Final = 5.0
"""After a database did not answer."""

REPLY, CARD, LINE = 0, 1, 2
"""Who goes first where several wait for one channel: what a person approved, then cards, then lines."""

POSTS_PER_SECOND: Final = 1.0
"""Slack's own limit, for each channel."""

POST_BURST: Final = 3
UPDATES_PER_SECOND: Final = 50 / 60
UPDATE_BURST: Final = 20
REACTIONS_PER_SECOND: Final = 20 / 60
REACTION_BURST: Final = 10
"""Slack's rate for removing them; of each method."""

MAX_KEPT: Final = 1_000
MIN_PATIENCE_S: Final = 0.1
"""For what others share: so that the milliseconds between two clocks refuse nobody."""

Ticket = tuple[int, int]

_call: ContextVar[tuple[RateLimiter, str] | None] = ContextVar("_call", default=None)
"""The call that this thread makes, and its rate."""


class PaceIfAnswered:
    """Port SharedPace over one that may not answer."""

    def __init__(self, pace: SharedPace) -> None:
        self._pace = pace
        self._ask_at = 0.0

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Return in how many seconds the next slot comes; 0 where nobody answers."""
        if time.monotonic() < self._ask_at:
            return 0.0
        try:
            return self._pace.reserve(rate, key, patience_s=patience_s, spare=spare)
        except StoreError as error:
            self._go_alone(error)
            return 0.0

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Tell the others, if anybody answers."""
        if time.monotonic() < self._ask_at:
            return
        try:
            self._pace.hold(rate, key, seconds)
        except StoreError as error:
            self._go_alone(error)

    def _go_alone(self, error: StoreError) -> None:
        self._ask_at = time.monotonic() + ASK_AGAIN_S
        log.warning("posts keep to this process's own rate: %s", error, extra={"action": "pace_alone"})


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
    """One pace for each channel, whoever asks from whatever thread; first by rank, then by arrival.

    Whose turn it is in this process asks for a slot among all processes, and the others here wait until it has come:
    so one who is more urgent waits for at most one of its own process.
    """

    def __init__(
        self,
        rate: Rate,
        shared: SharedPace | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rate, self._shared = rate, shared
        self._monotonic, self._wait = monotonic, wait
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._paces: dict[str, RateLimit] = {}
        self._waiting: defaultdict[str, list[Ticket]] = defaultdict(list)

    def wait_turn(self, key: str, *, rank: int = 0, patience_s: float = 0.0, spare: int = 0) -> None:
        """Return when one more may go to `key`.

        Raises:
            Unavailable: that would take longer than `patience_s`; `retry_after_s` says how long.
        """
        give_up_at = self._monotonic() + patience_s
        ticket = (rank, next(self._numbers))
        with self._lock:
            insort(self._waiting[key], ticket)
        try:
            while (wait_s := self._go_or_wait_s(key, ticket, spare)) > 0:
                if self._monotonic() + wait_s > give_up_at:
                    raise _too_many(wait_s)
                self._wait(wait_s)
        finally:
            self._leave(key, ticket)
        self._wait_for_others(key, max(MIN_PATIENCE_S, give_up_at - self._monotonic()), spare)

    def hold(self, key: str, seconds: float) -> None:
        """Let nothing go to `key` for so long, from any process."""
        with self._lock:
            self._pace(key).hold(self._monotonic(), seconds)
        if self._shared is not None:
            self._shared.hold(self._rate, key, seconds)

    def _wait_for_others(self, key: str, patience_s: float, spare: int) -> None:
        """Return when the slot has come that is free among all processes; raises Unavailable."""
        if self._shared is None:
            return
        wait_s = self._shared.reserve(self._rate, key, patience_s=patience_s, spare=spare)
        if wait_s <= 0:
            return
        with self._lock:
            if wait_s <= patience_s:
                self._pace(key).hold(self._monotonic(), wait_s)
            else:
                self._pace(key).give_back()
        if wait_s > patience_s:
            raise _too_many(wait_s)
        self._wait(wait_s)

    def _go_or_wait_s(self, key: str, ticket: Ticket, spare: int) -> float:
        """Take the slot if it is there and return 0, else return how long to wait before asking again."""
        with self._lock:
            now, pace = self._monotonic(), self._pace(key)
            wait_s = pace.wait_s(now, ahead=self._waiting[key].index(ticket), spare=spare)
            if wait_s <= 0:
                pace.take(now)
                self._waiting[key].remove(ticket)
            return wait_s

    def _leave(self, key: str, ticket: Ticket) -> None:
        with self._lock:
            if ticket in self._waiting[key]:
                self._waiting[key].remove(ticket)
            if not self._waiting[key]:
                del self._waiting[key]

    def _pace(self, key: str) -> RateLimit:
        if key not in self._paces and len(self._paces) >= MAX_KEPT:
            now = self._monotonic()
            self._paces = {known: pace for known, pace in self._paces.items() if not pace.is_idle(now)}
        return self._paces.setdefault(key, RateLimit(per_second=self._rate.per_second, burst=self._rate.burst))


class RateLimits:
    """The rates the bot keeps, for itself or with others."""

    def __init__(self, *, posts_per_second: float = POSTS_PER_SECOND, shared: SharedPace | None = None) -> None:
        pace = PaceIfAnswered(shared) if shared is not None else None
        self.posts = RateLimiter(Rate("posts", posts_per_second, POST_BURST), pace)
        self.updates = RateLimiter(Rate("updates", UPDATES_PER_SECOND, UPDATE_BURST), pace)
        self.reactions = RateLimiter(Rate("reactions", REACTIONS_PER_SECOND, REACTION_BURST), pace)


@contextmanager
def rate_limited(
    pacer: RateLimiter, key: str, what: str, *, rank: int = 0, patience_s: float, spare: int = 0
) -> Iterator[None]:
    """Enter when the pace allows it; where Slack refuses all the same, hold back whoever comes next."""
    try:
        pacer.wait_turn(key, rank=rank, patience_s=patience_s, spare=spare)
    except Unavailable as error:
        raise Unavailable(f"Slack could not {what}: {error}", retry_after_s=error.retry_after_s) from error
    token = _call.set((pacer, key))
    try:
        yield
    except Unavailable as error:
        if error.retry_after_s is not None:
            pacer.hold(key, error.retry_after_s)
        raise
    finally:
        _call.reset(token)


def hold_back(seconds: float) -> None:
    """Let nobody else make a call like the one that this thread makes: Slack refused it, and it is made again then."""
    if (call := _call.get()) is not None:
        pacer, key = call
        pacer.hold(key, seconds)


def _too_many(wait_s: float) -> Unavailable:
    return Unavailable(f"too many messages at once; try again in {math.ceil(wait_s)} s", retry_after_s=wait_s)
