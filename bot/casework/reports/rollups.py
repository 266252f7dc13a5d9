"""Rollups: one document for each day and kind, with what reports need of that day's closed threads and journal lines.

A day of a journal is read once it is over; the running day is read from the journal itself. A day of threads names the
closed threads it holds, and adds those it does not. A missing or damaged document is made anew. Why so:
docs/decisions/rollups.md.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from bot.casework.escalate.long_run import EscalationFolder
from bot.casework.reports.measures import time_of, timed_records, to_us
from bot.casework.reports.rollup_rows import FORMAT, KINDS, RollupKind, Row, days_between, utc_day
from bot.casework.reports.thread_facts import (
    THREAD_FORMAT,
    LongRun,
    ThreadFacts,
    facts_of,
    from_row,
)
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState
from bot.errors import Conflict
from bot.ports import ArchivedDocument, Store
from bot.ports.collections import ROLLUPS, THREADS, Collection

log = logging.getLogger(__name__)

ALL_TEAMS: Final = "all"
"""The key between kind and day in a document's id."""

LATE: Final = timedelta(hours=1)
"""How long after its end a day is kept: another process, whose clock is behind, may still write into it."""

THREADS_AT_ONCE: Final = 300
"""What somebody who waits lets be taken in, about 0.2 s: more is left to the ticks that follow."""

_SUM: Final = "crc"
_JOURNAL_FIELDS: Final = {"format", "rows"}
_THREAD_FIELDS: Final = {"format", "names", "count", "rows", "drafts", "unreadable"}


def uncounted_words(threads: int) -> str:
    """Return what is not counted yet, because only so much was to be done at once, and what to do about it.

    Nothing where all is counted.
    """
    if not threads:
        return ""
    return f"not counted yet: {counted(threads, 'closed thread')}; triage is counting them, ask again in a minute"


def day_after_kept(now: datetime) -> str:
    """Return the first day of journals, `yyyy-mm-dd`, that is not kept yet."""
    return utc_day(now - LATE)


class Rollups:
    """The rollups of one data directory; with `saves=False` what is missing is made in memory and nothing is written.

    Safe in several threads and processes: a day is written only if nobody changed it meanwhile.
    """

    def __init__(self, store: Store, *, saves: bool = True) -> None:
        self._store, self._documents, self._saves = store, store.documents, saves
        self._threads = Collection(store.documents, THREADS)
        self._unsaved: dict[str, Mapping[str, Any]] = {}
        self.threads_read = 0
        """How many were read from the archive, not from rollups."""
        self._lock = threading.Lock()

    def catch_up(self, since: datetime | None = None, *, at_most: int | None = None) -> int:
        """Take in threads that were closed, and return how many are left where only so many were to be taken in.

        `since` leaves out those that closed on earlier days.

        Raises:
            StoreError: something cannot be read or written.
        """
        while True:
            with self._lock, suppress(Conflict):  # another process stored the same day first
                return self._take_threads(since, at_most)

    def rebuild(self) -> None:
        """Forget every day and take in the closed threads anew; raises StoreError."""
        for document in self._documents.list(ROLLUPS):
            self._documents.remove(ROLLUPS, document.id, version=document.version)
        self.catch_up()

    def journal_rows(self, kind: RollupKind, since: datetime, now: datetime) -> list[Row]:
        """Return a row for each record of a journal that was written from a day on, oldest first; raises StoreError."""
        days, over = days_between(utc_day(since), utc_day(now)), day_after_kept(now)
        stored = {day: self._journal_day(kind, day) for day in days if day < over}
        rows: dict[str, list[Row]] = {day: _unpacked(one["rows"]) for day, one in stored.items() if one is not None}
        missing = [day for day in days if day not in rows]
        read = self._read_days(kind, missing[0], missing[-1])
        for day in missing:
            rows[day] = read[day]
            if day < over:
                kept = {"format": FORMAT, "kind": kind.name, "day": day, "rows": _packed(rows[day])}
                with suppress(Conflict):  # another process has kept the same
                    self._put(_id(kind.name, day), kept)
        return [row for day in days for row in rows[day]]

    def keep_days(self, since: datetime, now: datetime) -> None:
        """Keep the days of journals that are over and that no report has needed yet; raises StoreError."""
        over = [day for day in days_between(utc_day(since), utc_day(now)) if day < day_after_kept(now)]
        for kind in KINDS:
            if any(self._journal_day(kind, day) is None for day in over):
                self.journal_rows(kind, since, now)

    def journal_since(self, kind: RollupKind) -> datetime | None:
        """Return when the oldest record of a journal was written; None where it has none."""
        times = (time_of(record.get(kind.written_key)) for record in self._store.journal(kind.journal).records())
        return next(filter(None, times), None)

    def thread_rows(self, since: datetime, now: datetime) -> tuple[list[ThreadFacts], int]:
        """Return the threads that closed on a day or later, and how many cannot be read."""
        contents = self._thread_days(since, now)
        facts = [from_row(row) for content in contents for row in _unpacked(content["rows"])]
        return facts, sum(content["unreadable"] for content in contents)

    def closed_since(self, since: datetime, now: datetime) -> list[ThreadFacts]:
        """Return the threads that closed from a moment on, all of them; raises StoreError."""
        self.catch_up(since)
        return [one for one in self.thread_rows(since, now)[0] if (one.closed_us or 0) >= to_us(since)]

    def drafts(self, since: datetime, now: datetime) -> list[ThreadFacts]:
        """Return the threads that closed on a day or later and whose first draft qualifies."""
        return [from_row(row) for content in self._thread_days(since, now) for row in content["drafts"]]

    def _thread_days(self, since: datetime, now: datetime) -> list[Mapping[str, Any]]:
        found = map(self._thread_day, days_between(utc_day(since), utc_day(now)))
        return [content for content in found if content is not None]

    def _journal_day(self, kind: RollupKind, day: str) -> Mapping[str, Any] | None:
        return self._content(_id(kind.name, day), _JOURNAL_FIELDS, FORMAT)

    def _thread_day(self, day: str) -> Mapping[str, Any] | None:
        return self._content(_id("threads", day), _THREAD_FIELDS, THREAD_FORMAT)

    def facts(self, state: ThreadState) -> ThreadFacts:
        """Return the row of a thread as it stands, with what is left of its long run."""
        if not state.is_escalated:
            return facts_of(state)
        folder = EscalationFolder(self._store.runs.fetch(f"escalations/{state.thread_id}"))
        if folder.launched_at() is None:
            return facts_of(state)
        return facts_of(state, LongRun(folder.is_done(), folder.returned() is not None))

    def _read_days(self, kind: RollupKind, first: str, last: str) -> Mapping[str, list[Row]]:
        """Return the rows of a journal by the day they were written on; what is later than `last` is of that day."""
        found: dict[str, list[Row]] = defaultdict(list)
        since = datetime.fromisoformat(f"{first}T00:00+00:00")
        for at, record in timed_records(self._store, kind.journal, kind.written_key, since):
            row = kind.row_of(record)
            if row is not None:
                found[min(utc_day(at), last)].append(row)
        for rows in found.values():
            rows.reverse()
        return found

    def _take_threads(self, since: datetime | None, at_most: int | None) -> int:
        """Take in closed threads, those of the latest day first; return how many are left."""
        left = 0
        for day, closed in self._closed_by_day(since):
            held = self._thread_day(day)
            if held and held["count"] == len(closed):
                continue
            names = set(held["names"].split("\n")) if held else set()
            missing = [one for one in closed if one.name not in names]
            if len(closed) - len(missing) != len(names):  # a file was taken away
                held, missing = None, list(closed)
            room = len(missing) if at_most is None else min(at_most, len(missing))
            if room:
                self._add_threads(day, held, missing[:room])
                at_most = None if at_most is None else at_most - room
            left += len(missing) - room
        return left

    def _closed_by_day(self, since: datetime | None) -> Iterator[tuple[str, Sequence[ArchivedDocument]]]:
        first = since.replace(hour=0, minute=0, second=0, microsecond=0) if since else None
        for day, closed in groupby(self._documents.archived(THREADS.name, since=first), key=lambda one: one.at.date()):
            yield str(day), list(closed)

    def _add_threads(self, day: str, held: Mapping[str, Any] | None, missing: Sequence[ArchivedDocument]) -> None:
        rows = _unpacked(held["rows"]) if held else []
        drafts = list(held["drafts"]) if held else []
        unreadable = held["unreadable"] if held else 0
        for one in missing:
            document = self._documents.read_archived(THREADS.name, one)
            state = self._threads.parse(document) if document is not None else None
            unreadable += document is not None and state is None
            if state is not None:
                rows.append(facts := self.facts(state))
                drafts += [facts] if facts.qualifies else []
        self.threads_read += len(missing)
        names = [*(held["names"].split("\n") if held else []), *(one.name for one in missing)]
        content = {
            "format": THREAD_FORMAT,
            "kind": "threads",
            "day": day,
            "count": len(names),
            "names": "\n".join(names),
            "drafts": drafts,
            "rows": _packed(rows),
            "unreadable": unreadable,
        }
        self._put(_id("threads", day), content)

    def _content(self, name: str, fields: set[str], form: int) -> Mapping[str, Any] | None:
        """Return a day as it is stored; None where there is none that can be used."""
        if name in self._unsaved:
            return self._unsaved[name]
        document = self._documents.get(ROLLUPS, name)
        if document is None:
            return None
        value = document.value or {}
        if fields <= value.keys() and value["format"] == form and _are_whole(value):
            return value
        if self._saves and document.value is None:  # what is of another format is written over
            where = self._documents.set_aside(ROLLUPS, name)
            log.warning("a rollup cannot be read, is counted anew: %s", where, extra={"action": "rollups_anew"})
        return None

    def _put(self, name: str, content: Mapping[str, Any]) -> None:
        """Store a day; raises Conflict where somebody else was faster, whose day stays."""
        if not self._saves:
            self._unsaved[name] = content
            return
        stored = self._documents.get(ROLLUPS, name)
        summed = {**content, _SUM: _sum(content)}
        self._documents.put(ROLLUPS, name, summed, version=stored.version if stored else 0)


def _id(kind: str, day: str) -> str:
    return f"{kind}.{ALL_TEAMS}.{day}"


def _are_whole(value: Mapping[str, Any]) -> bool:
    """Whether a day is what was written; one of an earlier release has another sum, or none, and is counted anew."""
    return bool(value.get(_SUM) == _sum(value))


def _sum(content: Mapping[str, Any]) -> int:
    """Return the checksum of the fields that are read."""
    read = {key: content[key] for key in sorted(_THREAD_FIELDS & content.keys())}
    return zlib.crc32(json.dumps(read).encode())


def _packed(rows: Sequence[Any]) -> str:
    """Return rows as one text: whoever needs something else of the document does not pay for them.

    They stand by column, since as many lists as rows would have the garbage collector look through all of them.
    """
    return json.dumps(list(zip(*rows, strict=True)), separators=(",", ":"))


def _unpacked(text: str) -> list[Any]:
    return list(zip(*json.loads(text), strict=True))
