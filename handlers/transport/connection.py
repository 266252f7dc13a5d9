"""The process's one line to Slack: how it is, and what may have been missed on it.

Writes slack/connection.json, which bot/intake/presence.py reads. What may have been missed is noted before anything
later counts as heard, and tried again until it is stored.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from bot.errors import StoreError
from bot.intake.presence import Presence
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

WRITE_EVERY: Final = timedelta(seconds=10)

OnGap = Callable[[datetime, timedelta], None]
"""Gets since when something may have been missed, and how long ago a new session was asked for, if that ended it."""


class Connection:
    """What every line has; this one has no more, for a process that only works.

    `on_gap` is told since when something may have been missed, and raises StoreError where that cannot be kept.
    `places` are where it writes; the first also says what was there before. `hears`: whether it is to hear Slack.
    """

    address: str | None = None
    """Where it listens, `host:port`, if it does."""

    def __init__(
        self,
        places: Sequence[SingleDocument],
        clock: Clock,
        on_gap: OnGap,
        *,
        hears: bool = True,
    ) -> None:
        self._places, self._clock, self._on_gap = places, clock, on_gap
        self._lock = threading.RLock()
        now = clock.now()
        self._now = self._written = Presence(
            pid=os.getpid(),
            host=socket.gethostname(),
            at=now,
            started_at=now,
            down_since=now if hears else None,
            hears=hears,
        )
        self._missed_since: datetime | None = _last_heard(places[0].read()) or now
        self._is_closed = False

    def open(self) -> None:
        """Begin to listen."""
        self._write()

    def check(self) -> None:
        """Look after the line, about once a second; write how it is if that changed, else every 10 s."""
        if self._is_closed:
            return
        self._look()
        with self._lock:
            unseen = {"last_event_at": self._written.last_event_at}  # else each event would be a write
            has_changed = self._now.model_copy(update=unseen) != self._written
            is_due = not timedelta() <= self._clock.now() - self._now.at < WRITE_EVERY  # a clock may go back
            if not self._is_closed and (has_changed or is_due):
                self._write()

    def note_clock(self, ahead: timedelta) -> None:
        """Note how far this machine's clock is ahead of Slack's; the next check writes it."""
        with self._lock:
            self._note(clock_ahead_s=round(ahead.total_seconds()))

    def close(self) -> None:
        """Hear nothing more, and say so."""
        with self._lock:
            self._is_closed = True
        self._end()
        with self._lock:
            self._write(stopped_at=self._clock.now())

    def _look(self) -> None:
        """Find out whether the line is up, and mend it."""

    def _end(self) -> None:
        """Listen no more."""

    def _heard(self) -> None:
        """Note that Slack sent something; raises StoreError where that must not count yet, for a gap before it."""
        with self._lock:
            self._note_gap()
            self._note(last_event_at=self._clock.now())

    def _refused(self) -> None:
        """Note that something could not be stored; Slack sends it again, but not for ever."""
        with self._lock:
            self._missed_since = self._missed_since or self._clock.now()

    def _note_gap(self, session_age: timedelta = timedelta()) -> None:
        if self._missed_since is not None:
            self._on_gap(self._missed_since, session_age)
            self._missed_since = None

    def _note_up(self) -> None:
        self._note(connected_since=self._clock.now(), down_since=None, problem=None)

    def _note_down(self, problem: str | None) -> None:
        """Note that nothing is heard, and why; from now on something may be missed."""
        self._missed_since = self._missed_since or self._clock.now()
        down_since = self._now.down_since or self._clock.now()
        self._note(connected_since=None, down_since=down_since, problem=problem)

    def _note(self, **changes: Any) -> None:
        self._now = self._now.model_copy(update=changes)

    def _write(self, **changes: Any) -> None:
        """Change how the process stands and write it; a disk that refuses is logged."""
        self._note(**changes, at=self._clock.now())
        self._written = self._now
        try:
            for place in self._places:
                place.update(self._now.model_dump(mode="json"))
        except StoreError:
            log.exception("the connection's state could not be written", extra={"action": "presence_lost"})


def _last_heard(document: Mapping[str, Any]) -> datetime | None:
    """Return when the process before this one last heard Slack; None if there was none."""
    for key in ("down_since", "stopped_at", "at"):
        with suppress(KeyError, TypeError, ValueError):
            return datetime.fromisoformat(document[key])
    return None
