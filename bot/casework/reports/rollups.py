"""Days counted once: what reports need of closed threads and of journals, one document for each day and kind.

A day of a journal holds the rows between two places of it, so that each record is counted in exactly one write; a day
of threads names the closed threads it holds, and takes in those that it does not. Both can be made anew from the
archive and the journals, and are where a document is missing or damaged. Why so: docs/decisions/rollups.md.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple

from bot.casework.escalate.long_run import EscalationFolder
from bot.casework.reports.measures import to_us
from bot.casework.reports.rollup_rows import (
    FORMAT,
    KINDS,
    JournalDay,
    RollupKind,
    day_of,
    days_between,
    read_day,
    utc_day,
)
from bot.casework.reports.thread_facts import (
    THREAD_FORMAT,
    LongRun,
    ThreadFacts,
    facts_of,
    from_row,
)
from bot.domain.threads import ThreadState
from bot.errors import Conflict
from bot.ports import ArchivedDocument, Document, Store
from bot.ports.collections import ROLLUPS, THREADS, Collection

log = logging.getLogger(__name__)

ALL_TEAMS: Final = "all"
"""The key between kind and day in a document's id."""
LOOK_BACK: Final = timedelta(days=400)
"""How far back the latest day of a journal is looked for; one that was idle for longer is counted anew."""
RECORDS_AT_ONCE: Final = 2_000
"""Between two writes: what a kill in the middle costs."""
THREADS_AT_ONCE: Final = 300
MENDED_AT_ONCE: Final = 5_000
_JOURNAL_FIELDS: Final = {"format", "day", "start", "until", "before", "oldest"}
_THREAD_FIELDS: Final = {"format", "names", "count", "rows", "drafts", "unreadable"}


class _Outrun(Exception):
    """Another process stored the same day first."""


class Backlog(NamedTuple):
    """What is not counted yet, because only so much was to be done at once."""

    threads: int = 0
    has_records: bool = False

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return bool(self.threads or self.has_records)

    def names(self) -> str:
        """Return what is left in a few words, nothing where nothing is."""
        parts = [f"{self.threads:,} closed threads"] if self.threads else []
        parts += ["records of the journals"] if self.has_records else []
        return f"not counted yet: {' and '.join(parts)}" if parts else ""

    def words(self) -> str:
        """Return what is left in words, and what to do; nothing where nothing is left."""
        return f"{self.names()}; triage is counting them, ask again in a minute" if self else ""


COMPLETE: Final = Backlog()


class Allowance:
    """How many threads and how many records of journals one call may still take in; None: as many as there are."""

    def __init__(self, threads: int | None = None, records: int | None = None) -> None:
        self.threads = threads
        self.records = records

    @classmethod
    def for_one_look(cls) -> Allowance:
        """Return what somebody who waits lets be taken in, about 0.2 s each: more is left to the ticks that follow."""
        return cls(threads=THREADS_AT_ONCE, records=MENDED_AT_ONCE)


class Rollups:
    """The rollups of one data directory; with `saves=False` what is missing is made in memory and nothing is written.

    Safe in several threads and processes: a day is written only if nobody changed it meanwhile.
    """

    def __init__(self, store: Store, *, saves: bool = True) -> None:
        self._store, self._documents, self._saves = store, store.documents, saves
        self._threads = Collection(store.documents, THREADS)
        self._unsaved: dict[str, Mapping[str, Any]] = {}
        self._forgotten: set[str] = set()
        self._behind: set[str] = set()
        self.threads_read = self.records_read = 0
        """What was read from the archive and the journals, not from rollups."""
        self._lock = threading.Lock()

    @property
    def has_uncounted_records(self) -> bool:
        """Whether the latest look at a journal, to take in what is new or to mend a day, ended before its end."""
        return bool(self._behind)

    def catch_up(self, now: datetime, since: datetime | None = None, *, allow: Allowance | None = None) -> Backlog:
        """Take in what was closed and appended; `since` leaves out threads that closed on earlier days.

        Raises:
            StoreError: something cannot be read or written.
        """
        allow = allow or Allowance()
        while True:
            with self._lock, suppress(_Outrun):
                for kind in KINDS:
                    self._follow(kind, utc_day(now), allow)
                threads = self._take_threads(since, allow)
                return Backlog(threads=threads, has_records=self.has_uncounted_records)

    def rebuild(self, now: datetime) -> None:
        """Forget every day and count anew; killed in the middle, the next `catch_up` goes on. Raises StoreError."""
        with self._lock:
            for document in sorted(self._documents.list(ROLLUPS), key=lambda one: one.id, reverse=True):
                self._forget(document)
        self.catch_up(now)

    def journal_days(self, kind: RollupKind, since: datetime, now: datetime) -> list[Mapping[str, Any]]:
        """Return the days of a journal that hold records from a moment on, oldest first; raises StoreError.

        Where one was deleted or damaged, it and those after it are counted anew first, at most `MENDED_AT_ONCE`
        records; more are left to `catch_up`, and `has_uncounted_records` says so.
        """
        found, gap = self._without_gap(kind, since, now)
        if gap is None:
            return found
        with self._lock:
            log.warning("%s from %s on are counted anew", kind.name, gap, extra={"action": "rollups_anew"})
            self._forget_from(kind, gap, utc_day(now))
            records = MENDED_AT_ONCE if self._saves else None
            self._follow(kind, utc_day(now), Allowance(records=records))
        return self._without_gap(kind, since, now)[0]

    def thread_rows(self, since: datetime, now: datetime) -> tuple[list[ThreadFacts], int]:
        """Return the threads that closed on a day or later, and how many cannot be read."""
        contents = self._thread_days(since, now)
        facts = [from_row(row) for content in contents for row in json.loads(content["rows"])]
        return facts, sum(content["unreadable"] for content in contents)

    def closed_since(self, since: datetime, now: datetime) -> list[ThreadFacts]:
        """Return the threads that closed from a moment on, all of them; raises StoreError."""
        while True:
            with self._lock, suppress(_Outrun):
                self._take_threads(since, Allowance())
                break
        return [one for one in self.thread_rows(since, now)[0] if (one.closed_us or 0) >= to_us(since)]

    def drafts(self, since: datetime, now: datetime) -> list[ThreadFacts]:
        """Return the threads that closed on a day or later and whose first draft qualifies."""
        return [from_row(row) for content in self._thread_days(since, now) for row in content["drafts"]]

    def _thread_days(self, since: datetime, now: datetime) -> list[Mapping[str, Any]]:
        found = (self._content(_id("threads", day)) for day in days_between(utc_day(since), utc_day(now)))
        return [content for content in found if content is not None]

    def facts(self, state: ThreadState) -> ThreadFacts:
        """Return the row of a thread as it stands, with what is left of its long run."""
        if not state.is_escalated:
            return facts_of(state)
        folder = EscalationFolder(self._store.runs.fetch(f"escalations/{state.thread_id}"))
        if folder.launched_at() is None:
            return facts_of(state)
        return facts_of(state, LongRun(folder.is_done(), folder.returned() is not None))

    # Journals.

    def _follow(self, kind: RollupKind, today: str, allow: Allowance) -> None:
        """Take in what was appended since, and remember whether more is left than was allowed."""
        try:
            is_behind = self._append(kind, today, allow)
        except Conflict:  # the journal is another one: put back from a backup, say
            log.warning("%s is counted anew: its journal is another", kind.name, extra={"action": "rollups_anew"})
            self._forget_from(kind, "0001-01-01", today)
            is_behind = self._append(kind, today, allow)
        (self._behind.add if is_behind else self._behind.discard)(kind.name)

    def _append(self, kind: RollupKind, today: str, allow: Allowance) -> bool:
        part, taken = self.latest(kind, today), 0
        for record, after in self._store.journal(kind.journal).read_from(part.until):
            if allow.records is not None and allow.records <= 0:
                self._save(kind, part, taken)
                return True
            day = min(max(day_of(kind, record, part.day or today), part.day), max(today, part.day))
            if not part.day:
                part = JournalDay(day=day)
            elif day != part.day or (taken and taken % RECORDS_AT_ONCE == 0):
                self._save(kind, part, taken)
                part, taken = (part.next(kind, day) if day != part.day else part), 0
            part.take(kind, record, after)
            taken += 1
            self.records_read += 1
            allow.records = None if allow.records is None else allow.records - 1
        self._save(kind, part, taken)
        return False

    def _save(self, kind: RollupKind, part: JournalDay, taken: int) -> None:
        if taken:
            part.version = self._put(_id(kind.name, part.day), part.content(kind), part.version)

    def latest(self, kind: RollupKind, today: str) -> JournalDay:
        """Return the latest day of a journal that is counted, up to `today` (yyyy-mm-dd); an empty one without any."""
        found = (self._day(kind, day) for day in reversed(days_between(_first_day(today), today)))
        return next((day for day in found if day is not None), JournalDay(day=""))

    def _day(self, kind: RollupKind, day: str) -> JournalDay | None:
        name = _id(kind.name, day)
        if name in self._unsaved:
            return read_day(kind, self._unsaved[name], 0)
        document = self._find(name)
        found = read_day(kind, document.value or {}, document.version) if document else None
        if document is not None and found is None:
            self._set_aside(name)
        return found

    def _without_gap(
        self, kind: RollupKind, since: datetime, now: datetime
    ) -> tuple[list[Mapping[str, Any]], str | None]:
        """Return the days of a journal, and the first one whose predecessor is not the one it followed."""
        first = utc_day(since)
        found: list[Mapping[str, Any]] = []
        for day in days_between(first, utc_day(now)):
            content = self._content(_id(kind.name, day), is_journal=True)
            if content is None:
                continue
            before = content["before"]
            latest = found[-1] if found else None
            is_first = latest is None and (before is None or before < first)
            if not is_first and (latest is None or (latest["day"], latest["until"]) != (before, content["start"])):
                return found, day
            found.append(content)
        return found, None

    def _forget_from(self, kind: RollupKind, first: str, today: str) -> None:
        """Forget the days of a journal from one on, the latest first: what is left is always without a gap."""
        for day in reversed(days_between(max(first, _first_day(today)), today)):
            if (document := self._find(_id(kind.name, day))) is not None:
                self._forget(document)

    # Closed threads.

    def _take_threads(self, since: datetime | None, allow: Allowance) -> int:
        """Take in closed threads, those of the latest day first; return how many are left."""
        left = 0
        for day, closed in self._closed_by_day(since):
            held = self._content(_id("threads", day))
            if held and held["count"] == len(closed):
                continue
            names = set(held["names"].split("\n")) if held else set()
            missing = [one for one in closed if one.name not in names]
            if len(closed) - len(missing) != len(names):  # a file was taken away
                held, missing = None, list(closed)
            room = len(missing) if allow.threads is None else min(allow.threads, len(missing))
            if room:
                self._add_threads(day, held, missing[:room])
                allow.threads = None if allow.threads is None else allow.threads - room
            left += len(missing) - room
        return left

    def _closed_by_day(self, since: datetime | None) -> Iterator[tuple[str, Sequence[ArchivedDocument]]]:
        first = since.replace(hour=0, minute=0, second=0, microsecond=0) if since else None
        for day, closed in groupby(self._documents.archived(THREADS.name, since=first), key=lambda one: one.at.date()):
            yield str(day), list(closed)

    def _add_threads(self, day: str, held: Mapping[str, Any] | None, missing: Sequence[ArchivedDocument]) -> None:
        name = _id("threads", day)
        rows = json.loads(held["rows"]) if held else []
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
        stored = self._find(name)
        content = {
            "format": THREAD_FORMAT,
            "kind": "threads",
            "day": day,
            "count": len(names),
            "names": "\n".join(names),
            "drafts": drafts,
            "rows": json.dumps(rows, separators=(",", ":")),  # a text: most reports need the drafts only
            "unreadable": unreadable,
        }
        self._put(name, content, stored.version if stored else 0)

    # Documents.

    def _content(self, name: str, *, is_journal: bool = False) -> Mapping[str, Any] | None:
        """Return a day as it is stored; None where there is none that can be used."""
        if name in self._unsaved:
            return self._unsaved[name]
        document = self._find(name)
        if document is None:
            return None
        value = document.value or {}
        fields, form = (_JOURNAL_FIELDS, FORMAT) if is_journal else (_THREAD_FIELDS, THREAD_FORMAT)
        if not fields <= value.keys() or value["format"] != form:
            self._set_aside(name)
            return None
        return value

    def _find(self, name: str) -> Document | None:
        return None if name in self._forgotten else self._documents.get(ROLLUPS, name)

    def _put(self, name: str, content: Mapping[str, Any], version: int) -> int:
        """Store a day and return its version; raises _Outrun where somebody else was faster, whose day stays."""
        if not self._saves:
            self._unsaved[name] = content
            return 0
        try:
            self._documents.put(ROLLUPS, name, content, version=version)
        except Conflict as error:
            raise _Outrun(name) from error
        return version + 1

    def _forget(self, document: Document) -> None:
        self._unsaved.pop(document.id, None)
        if not self._saves:
            self._forgotten.add(document.id)
        else:
            self._documents.delete(ROLLUPS, document.id, version=document.version)

    def _set_aside(self, name: str) -> None:
        if self._saves:
            where = self._documents.set_aside(ROLLUPS, name)
            log.warning("a rollup cannot be read, is counted anew: %s", where, extra={"action": "rollups_anew"})


def _id(kind: str, day: str) -> str:
    return f"{kind}.{ALL_TEAMS}.{day}"


def _first_day(today: str) -> str:
    """Return the day up to which the latest one of a journal is looked for."""
    return str(date.fromisoformat(today) - LOOK_BACK)
