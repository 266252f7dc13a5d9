"""Signals of this process, taken by its main thread one after the other."""

from __future__ import annotations

import queue
import signal
from types import FrameType


class SignalQueue:
    """Keeps signals until `wait` takes them.

    A handler runs in the middle of anything the main thread does, another handler included. `threading.Event.set`
    would wait there for a lock that its own thread holds, and the process would never answer again.
    `queue.SimpleQueue.put` may be called at any moment (docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
    """

    def __init__(self) -> None:
        self._came: queue.SimpleQueue[int] = queue.SimpleQueue()

    def keep(self, *numbers: int) -> None:
        """Keep these from now on."""
        for number in numbers:
            signal.signal(number, self.put)

    def put(self, number: int, _frame: FrameType | None = None) -> None:
        """Add one; a signal handler."""
        self._came.put(number)

    def wait(self, timeout_s: float) -> set[int]:
        """Return what came, each number once; nothing after `timeout_s`.

        Keep it short: a signal that another thread received does not wake the main thread.
        """
        came = set()
        try:
            came.add(self._came.get(timeout=timeout_s))
            while True:
                came.add(self._came.get_nowait())
        except queue.Empty:
            return came
