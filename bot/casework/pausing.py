"""Pause and resume: while paused messages are heard and get their cards, and nothing that costs money begins.

Writes paused.json, an empty object when not paused; the queue keeps what waits, so resuming has nothing to find again.
"""

from __future__ import annotations

import logging
from pathlib import Path

from bot.casework.pause_file import read_pause
from bot.domain.jobs import Job
from bot.domain.pause import Pause
from bot.ports import Clock, Slate

log = logging.getLogger(__name__)


class Pausing:
    """The one switch of a running bot."""

    def __init__(self, home: Path, slate: Slate, clock: Clock) -> None:
        self._slate, self._clock = slate, clock
        self._pause = read_pause(home)

    @property
    def is_paused(self) -> bool:
        """Whether nothing may begin."""
        return self._pause is not None

    def words(self) -> str | None:
        """Return who paused and since when; None while work goes on."""
        pause = self._pause
        return pause.words() if pause else None

    def allows(self, job: Job) -> bool:
        """Whether a job may be taken now: a message still gets its card, whose investigation waits."""
        return self._pause is None or "event" in job.payload

    def pause(self, *, by: str, name: str) -> bool:
        """Stop; False if that had been done already, and then the first one's name stands. Raises StoreError."""
        if self._pause is not None:
            return False
        pause = Pause(by=by, name=name, at=self._clock.now())
        self._slate.write(pause.model_dump(mode="json"))
        self._pause = pause
        log.warning("paused by %s", by, extra={"action": "paused"})
        return True

    def resume(self, *, by: str) -> bool:
        """Go on; False if nothing was paused. Raises StoreError, and then all stays paused."""
        if self._pause is None:
            return False
        self._slate.write({})
        self._pause = None
        log.warning("resumed by %s", by, extra={"action": "resumed"})
        return True
