"""This process among the replicas of a database: a sign of life every few seconds from start to stop."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from bot.errors import StoreError
from bot.ports.replicas import Replicas, Role
from bot.release import program_version
from bot.runtime.ticker import Ticker

BEAT_EVERY_S: Final = 5


class SignsOfLife:
    """Signs of life in `replicas`, from a thread of their own; nothing happens where there are none."""

    def __init__(self, replicas: Replicas | None, role: Role) -> None:
        self._replicas, self._role, self._ticker = replicas, role, Ticker()

    def start(self) -> None:
        """Give the first sign, and go on; raises StoreError."""
        if (replicas := self._replicas) is not None:
            beat = partial(replicas.beat, program_version(), self._role)
            beat()
            self._ticker.every(BEAT_EVERY_S, beat)
            self._ticker.start()

    def stop(self) -> None:
        """Give no more, and let the others know."""
        if self._replicas is not None:
            self._ticker.stop()
            with suppress(StoreError):  # the others see that it is silent
                self._replicas.leave()
