"""Whose turn it is to show a thread's card: one at a time, and later what could not be shown now.

Many changes of a card in a short time become few updates: what is noted here is only *that* a card is behind, and
whoever shows it reads the state as it is by then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

RETRY_S: Final = 5.0
LONGEST_S: Final = 60.0


class CardTurns:
    """The cards being shown, and those that are behind and since when they may be tried."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._busy: set[str] = set()
        self._behind: dict[str, float] = {}
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, thread_id: str, *, wait_s: float = 0.0) -> Iterator[bool]:
        """Yield whether it is ours to show the card now; False after `wait_s` if somebody else still shows it."""
        with self._changed:
            mine = self._changed.wait_for(lambda: thread_id not in self._busy, timeout=wait_s)
            if mine:
                self._busy.add(thread_id)
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._busy.discard(thread_id)
                    self._changed.notify_all()

    def later(self, thread_id: str, after_s: float | None = None) -> None:
        """Note that a card is behind and may be tried after so long (at most a minute)."""
        with self._changed:
            self._behind[thread_id] = self._monotonic() + min(RETRY_S if after_s is None else after_s, LONGEST_S)

    def forget(self, thread_id: str) -> None:
        """Note that a card is about to show the state as it is now, so what was put off before need not be shown."""
        with self._changed:
            self._behind.pop(thread_id, None)

    def next(self, *, at_once: bool = False) -> str | None:
        """Return the card whose time has come, longest past first, and forget it; `at_once`: or has not come yet."""
        with self._changed:
            if not self._behind:
                return None
            thread_id, due = min(self._behind.items(), key=lambda entry: entry[1])
            if due > self._monotonic() and not at_once:
                return None
            del self._behind[thread_id]
            return thread_id
