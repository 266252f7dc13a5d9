"""Detects that the disk refuses writes or that code cannot be searched, and tells the ops channel once, also when it
ends.

A small file is written every few seconds, and the passage indexes are brought up to HEAD. Nothing here stops other
work from being tried: each part handles its own refusals.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from bot.casework.reports.code_standings import CodebaseStanding, IndexStanding
from bot.domain.search.passages import IndexReport
from bot.errors import CodebaseUnreadable, DiskRefused, NotCloned, StoreError, TriageError
from bot.ports import Clock
from bot.ports.collections import SingleDocument

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


class IndexWatch:
    """Brings the indexes up to HEAD with what `refreshes` returns, by codebase, which must not wait for others.

    The only codebase of a process has no name: it is called the code.
    """

    def __init__(
        self,
        refreshes: Callable[[], Mapping[str, Callable[[], IndexReport]]],
        stored: SingleDocument,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._refreshes, self._stored, self._say = refreshes, stored, say
        self._written: IndexStanding | None = None
        self._known: dict[str, CodebaseStanding] = {}
        self.is_whole = False
        """Whether the last look found every file of each HEAD indexed."""

    def tick(self) -> None:
        """Look once; raises StoreError where what is known cannot be written."""
        refreshes = self._refreshes()
        self._known = {name: known for name, known in self._known.items() if name in refreshes}
        whole = [self._look(name, refresh) for name, refresh in refreshes.items()]
        self.is_whole = all(whole)
        standing = IndexStanding.of(self._known)
        if self._known and standing != self._written:
            self._stored.update(standing.model_dump())
            self._written = standing

    def _look(self, name: str, refresh: Callable[[], IndexReport]) -> bool:
        """Look at one codebase; return whether every file of its HEAD is indexed."""
        try:
            report = refresh()
        except NotCloned:  # whoever clones it tells of it
            return False
        except TriageError as error:
            if isinstance(error, DiskRefused) and not isinstance(error, CodebaseUnreadable):
                # the watch over the disk tells of it
                log.warning("the index waits for the disk: %s", error, extra={"action": "index_waits"})
            else:
                self._note(name, CodebaseStanding(problem=str(error)))
            return False
        gaps = report.gaps
        self._note(
            name,
            CodebaseStanding(commit=report.commit, files=report.files, waiting=gaps.waiting, total=gaps.total),
        )
        return not gaps.waiting

    def _note(self, name: str, now: CodebaseStanding) -> None:
        before = self._known.get(name, CodebaseStanding()).problem
        what = f"The codebase {name}" if name else "The code"
        if now.problem is not None and before is None:
            then = (
                "Questions are answered from the other codebases until then, or wait."
                if name
                else "Questions wait until it can."
            )
            self._say(f"{what} cannot be searched: {now.problem}. {then}")
        elif now.problem is None and before is not None:
            self._say(f"{what} can be searched again. Waiting questions continue.")
        self._known[name] = now
