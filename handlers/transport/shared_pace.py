"""The rates that several processes share, for as long as their database answers.

A post is worth more than its pace: without an answer every slot is there at once, and the process keeps to the rate for
itself (rate_limits.py). That is logged when it begins and when it ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from bot.errors import StoreError
from bot.ports.replicas import Rate, SharedPace

log = logging.getLogger(__name__)

ASK_AGAIN_S: Final = 5.0
"""After a database did not answer."""


class PaceIfAnswered:
    """Port SharedPace over one that may not answer."""

    def __init__(self, pace: SharedPace, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._pace, self._monotonic = pace, monotonic
        self._ask_at = 0.0
        self._is_alone = False

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Return in how many seconds the next slot comes; 0 where nobody answers."""
        if self._monotonic() < self._ask_at:
            return 0.0
        try:
            wait_s = self._pace.reserve(rate, key, patience_s=patience_s, spare=spare)
        except StoreError as error:
            self._go_alone(error)
            return 0.0
        if self._is_alone:
            self._is_alone = False
            log.info("the rates of posts are shared again", extra={"action": "pace_shared"})
        return wait_s

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Tell the others, if anybody answers."""
        if self._monotonic() < self._ask_at:
            return
        try:
            self._pace.hold(rate, key, seconds)
        except StoreError as error:
            self._go_alone(error)

    def _go_alone(self, error: StoreError) -> None:
        self._ask_at = self._monotonic() + ASK_AGAIN_S
        if not self._is_alone:
            self._is_alone = True
            log.warning("posts keep to this process's own rate: %s", error, extra={"action": "pace_alone"})
