"""The threads that closed in a window: a row of each from the rollups, and the whole records of the few that are shown.

Reads the archive's names and single records of it; writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bot.casework.reports.measures import Window
from bot.casework.reports.thread_facts import ThreadFacts, to_us
from bot.domain.threads import Resolution, ThreadState
from bot.ports import ArchivedDocument, Store
from bot.ports.collections import THREADS, Collection
from bot.ports.migrations import migrated

MAX_QUESTIONS: Final = 2_000
"""Questions of a week that are read, the newest first."""
MAX_PERMALINKS: Final = 50
"""Threads that are looked at for one with a link."""


class ClosedThread(NamedTuple):
    """A thread that closed: its place in the archive and its row."""

    archived: ArchivedDocument
    facts: ThreadFacts


class ClosedWeek:
    """The threads that closed in a window, the newest first; `unread` counts those that have no row.

    They cannot be read, or are not counted yet. Each method raises StoreError where the disk refuses.
    """

    def __init__(self, store: Store, rows: Sequence[ThreadFacts], window: Window) -> None:
        self._documents, self._threads = store.documents, Collection(store.documents, THREADS)
        named = [one for one in store.documents.archived(THREADS.name, since=window.start) if window.holds(one.at)]
        by_id: dict[str, list[ThreadFacts]] = {}
        for row in rows:
            by_id.setdefault(row.thread_id, []).append(row)
        self.threads = [ClosedThread(one, _row_of(one, found)) for one in named if (found := by_id.get(one.doc_id))]
        self.unread = len(named) - len(self.threads)

    def ended(self, resolution: Resolution) -> list[ClosedThread]:
        """Return those that ended in one way."""
        return [one for one in self.threads if one.facts.resolution == resolution]

    def read(self, threads: Sequence[ClosedThread]) -> Iterator[ThreadState]:
        """Yield the records of some of them; one that is gone meanwhile is left out."""
        for one in threads:
            document = self._documents.read_archived(THREADS.name, one.archived)
            if document is not None and (state := self._threads.parse(document)) is not None:
                yield state

    def permalink(self) -> str | None:
        """Return the link of the newest thread that has one."""
        return next((one.permalink for one in self.read(self.threads[:MAX_PERMALINKS]) if one.permalink), None)

    def questions(self) -> Iterator[str]:
        """Yield what was asked, the newest first, at most `MAX_QUESTIONS`; records are not validated for it."""
        for one in self.threads[:MAX_QUESTIONS]:
            document = self._documents.read_archived(THREADS.name, one.archived)
            content = migrated(self._documents, THREADS.name, document) if document is not None else None
            if content is not None:
                yield str(content.get("question", ""))


def _row_of(archived: ArchivedDocument, rows: Sequence[ThreadFacts]) -> ThreadFacts:
    """Return the row of an archived record; a thread that was opened again and closed has several."""
    at = to_us(archived.at)
    return min(rows, key=lambda row: abs((row.closed_us or 0) - at))
