"""Notices that the disk refuses writes before anybody asks something of it, and that it takes them again.

A small file is written every few seconds. The ops channel hears of each refusal once and of its end; what waited
meanwhile is then taken up. Nothing here keeps anything from being tried: each part of the bot minds its own refusals.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Final

from bot.errors import StoreError
from bot.ports import Clock

log = logging.getLogger(__name__)

LEAST_BYTES: Final = 256 * 1024
ENOUGH_BYTES: Final = 1024 * 1024
"""What must be free once the disk has refused: a few bytes would only be refused again."""


class DiskWatch:
    """Tries the disk with `probe`, which wants so much room; `on_back` is told since when writes may have failed."""

    def __init__(
        self,
        probe: Callable[[int], None],
        clock: Clock,
        *,
        say: Callable[[str], None],
        on_back: Callable[[datetime], None],
    ) -> None:
        self._probe, self._clock, self._say, self._on_back = probe, clock, say, on_back
        self._well_at = clock.now()
        self._refused = threading.Event()

    def tick(self) -> None:
        """Try the disk once."""
        now = self._clock.now()
        try:
            self._probe(ENOUGH_BYTES if self._refused.is_set() else LEAST_BYTES)
            if self._refused.is_set():
                self._on_back(self._well_at)
        except StoreError as error:
            self._note(error)
            return
        self._well_at = now
        if self._refused.is_set():
            self._refused.clear()
            self._say("The disk accepts writes again. Waiting work continues.")

    def _note(self, error: StoreError) -> None:
        if self._refused.is_set():
            log.info("the disk still refuses: %s", error, extra={"action": "disk_refuses"})
            return
        self._refused.set()
        self._say(
            f"The disk does not accept writes: {error}. Questions wait and no reply can be approved until it does; "
            "nothing that was acknowledged is lost. Work then continues by itself."
        )
