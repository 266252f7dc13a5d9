"""Writes this process's state and that of its connection to slack/connection.json; bot/intake/presence.py reads it."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from bot.errors import StoreError
from bot.intake.presence import Presence
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

WRITE_EVERY: Final = timedelta(seconds=10)

OnSession = Callable[[datetime | None, timedelta], None]
"""Gets since when nothing was heard, None at the very first start, and how long ago the new session was asked for."""


class PresenceRecord:
    """How this process stands, `now`; whoever has the record lets one thread in at a time.

    Where replicas share what is `stored`, each machine keeps its `own` beside it.
    """

    def __init__(
        self, stored: SingleDocument, clock: Clock, *, own: SingleDocument | None = None, hears: bool = True
    ) -> None:
        self._stored, self._clock = stored, clock
        self._places = (stored,) if own is None else (own, stored)
        now = clock.now()
        self.now = Presence(
            pid=os.getpid(),
            host=socket.gethostname(),
            at=now,
            started_at=now,
            down_since=now if hears else None,
            hears=hears,
        )

    def last_connected(self) -> datetime | None:
        """Return when the process before this one last heard Slack; None if there was none. Raises StoreError."""
        document = self._stored.read()
        for key in ("down_since", "stopped_at", "at"):
            try:
                return datetime.fromisoformat(document[key])
            except (KeyError, TypeError, ValueError):
                continue
        return None

    @property
    def is_due(self) -> bool:
        """Whether a sign of life is to be written again; a clock may have gone back since the last one."""
        return not timedelta() <= self._clock.now() - self.now.at < WRITE_EVERY

    def note(self, **changes: Any) -> None:
        """Change how this process stands; that is written with the next sign of life."""
        self.now = self.now.model_copy(update=changes)

    def note_clock(self, ahead: timedelta) -> None:
        """Note how far this machine's clock is ahead of Slack's."""
        self.note(clock_ahead_s=round(ahead.total_seconds()))

    def write(self, **changes: Any) -> None:
        """Change how this process stands and write it; a disk that refuses is logged."""
        self.note(**changes, at=self._clock.now())
        try:
            for place in self._places:
                place.update(self.now.model_dump(mode="json"))
        except StoreError:
            log.exception("the connection's state could not be written", extra={"action": "presence_lost"})


class NoConnection:
    """The line of a process that only works: Slack reaches other replicas. It writes down that it lives."""

    def __init__(self, own: SingleDocument, clock: Clock) -> None:
        self._presence, self._clock = PresenceRecord(own, clock, hears=False), clock
        self.note_clock = self._presence.note_clock

    def open(self) -> None:
        """Nothing is opened."""
        self._presence.write()

    def check(self) -> None:
        """Nothing can break."""
        if self._presence.is_due:
            self._presence.write()

    def close(self) -> None:
        """Nothing is open."""
        self._presence.write(stopped_at=self._clock.now())
