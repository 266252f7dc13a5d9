"""Who shows what in the chat: one at a time for each id, and later what could not be shown now.

In memory only: what is behind after a restart is found in what is on file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Final

RETRY_S: Final = 5.0
LONGEST_S: Final = 60.0


class Turns:
    """What is being shown, by its id, and what is behind and from when on it may be tried."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._busy: set[str] = set()
        self._behind: dict[str, float] = {}
        self._changed = threading.Condition()

    @contextmanager
    def exclusive(self, item_id: str, *, wait_s: float = 0.0) -> Iterator[bool]:
        """Yield whether it is ours to show now; False after `wait_s` if somebody else still shows it."""
        with self._changed:
            mine = self._changed.wait_for(lambda: item_id not in self._busy, timeout=wait_s)
            if mine:
                self._busy.add(item_id)
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._busy.discard(item_id)
                    self._changed.notify_all()

    def postpone(self, item_id: str, after_s: float | None = None) -> None:
        """Note that something is behind and may be tried after so long (at most a minute)."""
        with self._changed:
            self._behind[item_id] = self._monotonic() + min(RETRY_S if after_s is None else after_s, LONGEST_S)

    def forget(self, item_id: str) -> None:
        """Note that something is about to be shown as it is now, so what was put off before need not be."""
        with self._changed:
            self._behind.pop(item_id, None)

    def next(self, *, at_once: bool = False, last: Collection[str] = ()) -> str | None:
        """Return what may be tried by now, longest past first, and forget it.

        `at_once`: or what may not be tried yet; `last` is what comes after all else.
        """
        with self._changed:
            now = self._monotonic()
            due = [(item_id in last, at, item_id) for item_id, at in self._behind.items() if at_once or at <= now]
            if not due:
                return None
            item_id = min(due)[2]
            del self._behind[item_id]
            return item_id
