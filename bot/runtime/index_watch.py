"""Keeps the passage index at HEAD beside everything else, and says where the code cannot be searched.

What is known of the index is written down for who asks how things stand. The ops channel hears once that the code
cannot be searched and why, and once that it can be again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.domain.search.passages import IndexReport
from bot.errors import CodebaseUnreadable, DiskRefused, TriageError
from bot.ports.collections import SingleDocument
from bot.ports.index_standing import IndexStanding

log = logging.getLogger(__name__)


class IndexWatch:
    """Brings the index up to HEAD with `refresh`, which must not wait for others."""

    def __init__(
        self, refresh: Callable[[], IndexReport], stored: SingleDocument, *, say: Callable[[str], None]
    ) -> None:
        self._refresh, self._stored, self._say = refresh, stored, say
        self._written: IndexStanding | None = None
        self._problem: str | None = None
        self._is_whole = False

    @property
    def is_whole(self) -> bool:
        """Whether the last look found every file of HEAD indexed."""
        return self._is_whole

    def tick(self) -> None:
        """Look once; raises StoreError where what is known cannot be written."""
        self._is_whole = False
        try:
            gaps = self._refresh().gaps
        except CodebaseUnreadable as error:
            self._note(str(error))
        except DiskRefused as error:  # the watch over the disk tells of it
            log.warning("the index waits for the disk: %s", error, extra={"action": "index_waits"})
        except TriageError as error:
            self._note(str(error))
        else:
            self._is_whole = not gaps.waiting
            self._note(None)
            self._write(IndexStanding(waiting=gaps.waiting, total=gaps.total))

    def _note(self, problem: str | None) -> None:
        if problem is not None:
            if self._problem is None:
                self._say(f"The code cannot be searched: {problem}. Questions wait until it can.")
            self._write(IndexStanding(problem=problem))
        elif self._problem is not None:
            self._say("The code can be searched again. Waiting questions continue.")
        self._problem = problem

    def _write(self, standing: IndexStanding) -> None:
        if standing != self._written:
            self._stored.update(standing.model_dump())
            self._written = standing
