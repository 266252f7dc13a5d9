"""What ends a run that does not end by itself: limits of time, a cancel, and the notice that it makes no progress.

Two limits, each on its own: `total` for all of a run, `stall` for a request that falls silent. One thread a run looks
for what is due and then shuts the socket the reader is blocked on; the reader wakes up and asks `check`. Only content
resets the stall: pings keep a socket alive and prove nothing. A run that repeats itself is Stuck: the caller asks it
for its answer once more (bot/agent/loop.py). Two tool calls are the same where only the order of keys differs.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Self

import httpx2

Kind = Literal["total", "stall", "cancel", "stop"]
Call = tuple[str, Mapping[str, Any]]

UNLIMITED_S: Final = 600.0
"""The longest that a socket may be silent where a run has no limit; the SDK's own default."""

SAME_IN_A_ROW: Final = 3
"""Turns with the same calls that count as a circle of one."""

_LONGEST_CIRCLE: Final = 3

_LOOK_EVERY_S: Final = 0.05
_CONNECT_S: Final = 10.0
_SLACK_S: Final = 0.25
"""How much longer than a limit the socket itself waits: it is the backstop, not the watchdog."""


class Expired(Exception):
    """A limit was reached; `kind` says which."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind: Kind = kind


class Watchdog:
    """Guards one run from `with` to its end."""

    def __init__(
        self,
        *,
        total_s: float | None,
        stall_s: float | None,
        monotonic: Callable[[], float],
        cancel: threading.Event | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._total_s, self._stall_s, self._monotonic = total_s, stall_s, monotonic
        self._cancel, self._stop = cancel, stop
        self._started = self._last = monotonic()
        self._listening = False
        self._fired: Kind | None = None
        self._response: httpx2.Response | None = None
        self._lock = threading.Lock()
        self._over, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._guard, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def due(self) -> Kind | None:
        """Return the limit that is reached now, or None."""
        now = self._monotonic()
        if self._cancel is not None and self._cancel.is_set():
            return "cancel"
        if self._stop is not None and self._stop.is_set():
            return "stop"
        if self._total_s is not None and now - self._started >= self._total_s:
            return "total"
        if self._listening and self._stall_s is not None and now - self._last >= self._stall_s:
            return "stall"
        return None

    def touch(self) -> None:
        """Note that content arrived."""
        self._last = self._monotonic()

    def left_s(self) -> float | None:
        """Return the seconds until the total limit; None if there is none."""
        return None if self._total_s is None else max(0.0, self._started + self._total_s - self._monotonic())

    def check(self) -> None:
        """Raise Expired if a limit was reached; a stall is told once, the end of the run for ever."""
        if (kind := self._fired or self.due()) is not None:
            self._forgive()
            raise Expired(kind)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Guard one request: from here on silence counts, until the block ends; a reply that came is not silence."""
        with self._lock:
            self.touch()
            self._listening, self._response = True, None
            self._forgive()
        try:
            yield
            self._forgive()
        finally:
            with self._lock:
                self._listening, self._response = False, None

    def _forgive(self) -> None:
        self._fired = None if self._fired == "stall" else self._fired

    @contextlib.contextmanager
    def deaf(self) -> Iterator[None]:
        """Not count the time of this block as silence: it is ours, not the model's."""
        listening, self._listening = self._listening, False
        try:
            yield
        finally:
            self.touch()
            self._listening = listening

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than the run may last; raises Expired."""
        self._ended.wait(seconds)
        self.check()

    def middleware(self, request: Any, call_next: Callable[[Any], Any]) -> Any:
        """Give each HTTP attempt the time that is left, and take hold of its response (a client's middleware)."""
        result = call_next(request.copy(timeout=self._timeout(streams=request.stream)))
        with self._lock:
            self._response = result.http_response
            if self._fired:
                self._shut()
        return result

    def _timeout(self, *, streams: bool) -> httpx2.Timeout:
        limits = [limit for limit in (self.left_s(), self._stall_s if streams else None) if limit is not None]
        silence = min(limits, default=UNLIMITED_S) + _SLACK_S
        return httpx2.Timeout(silence, connect=min(_CONNECT_S, silence))

    def _guard(self) -> None:
        while not (self._over.wait(_LOOK_EVERY_S) or self._ended.is_set()):
            with self._lock:
                kind = self.due()
                if kind is not None and kind != self._fired:
                    self._fired = kind
                    self._shut()
                    if kind != "stall":
                        self._ended.set()

    def _shut(self) -> None:
        """Wake the reader: closing a socket does not end a blocked read in another thread, shutting it down does."""
        stream = self._response.extensions.get("network_stream") if self._response is not None else None
        wire = stream.get_extra_info("socket") if stream is not None else None
        if wire is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(wire, socket.SHUT_RDWR)


class Stuck(Exception):
    """The run makes no progress; the message says why, for the model and the log."""


class LoopDetector:
    """Remembers the calls of every turn of one run."""

    def __init__(self) -> None:
        self._turns: list[frozenset[str]] = []

    def note(self, calls: Sequence[Call]) -> str | None:
        """Add a turn's calls; return what repeats, in words, or None while there is progress."""
        self._turns.append(frozenset(f"{name} {json.dumps(given, sort_keys=True)}" for name, given in calls))
        if len(set(self._turns[-SAME_IN_A_ROW:])) == 1 and len(self._turns) >= SAME_IN_A_ROW:
            return f"the same call {SAME_IN_A_ROW} times in a row"
        for length in range(2, _LONGEST_CIRCLE + 1):
            last, before = self._turns[-length:], self._turns[-2 * length : -length]
            if last == before:
                return f"the same {length} calls in turn, twice"
        return None
