"""What a report needs of each journal: one short row a record, and how the rows of a day are kept. Pure.

Messages are many, so their rows are kept as columns: 200,000 of them are read in 20 ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Final

from bot.casework.reports.measures import known_cost, time_of, to_us
from bot.domain.threads import hash_draft
from bot.ports.collections import CLASSIFIED, HEARTBEATS, REPLIES, SPEND
from bot.ports.storage import JOURNAL_START, Position

Record = Mapping[str, Any]
FORMAT: Final = 2
"""Of the rows of journals; days of another format are counted anew."""
Row = list[Any]
_THREAD_RUN: Final = re.compile(r"[\w-]+\.[\w-]+\.\d+\.\d+-")
"""How the run of a thread is named; a beat's is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RollupKind:
    """A journal and its rows.

    `day_keys` name the time at which a record was written, the first that is there; `time_key` is the record's own
    time. A later row with the same `identity` (its index in the row) replaces the earlier one of a day.
    """

    name: str
    journal: str
    day_keys: tuple[str, ...]
    time_key: str
    row_of: Callable[[Record], Row | None]
    identity: int | None = None
    columns: tuple[str, ...] = ()


def _message_row(record: Record) -> Row | None:
    """[time, what it was, channel and ts] of a message: `a` actionable, `l` left alone."""
    at = time_of(record.get("create_time"))
    if at is None or record.get("msg_type") in ("edit", "delete"):
        return None
    mark = "a" if record.get("classification") == "actionable" else "l"
    place = f"{record.get('chat_id')} {record.get('message_id')}".replace("\n", " ")
    return [to_us(at), mark, place]


def _mention_row(record: Record) -> Row | None:
    """[time, channel, ts] of a message that names the bot."""
    at = time_of(record.get("create_time"))
    if at is None or record.get("is_bot_mention") is not True or record.get("msg_type") in ("edit", "delete"):
        return None
    return [to_us(at), str(record.get("chat_id")), str(record.get("message_id"))]


def _reply_row(record: Record) -> Row | None:
    at, task = time_of(record.get("posted_at")), record.get("investigator_task_id")
    if at is None:
        return None
    keys = ("thread_id", "chat_id", "reply_to_message_id", "posted_message_id")
    return [
        to_us(at),
        *(str(record.get(key)) for key in keys),
        hash_draft(str(record.get("reply_text"))),
        str(task) if task else None,
    ]


def _spend_row(record: Record) -> Row | None:
    at = time_of(record.get("at"))
    if at is None:
        return None
    return [to_us(at), _THREAD_RUN.match(str(record.get("run_id"))) is not None, known_cost(record)]


def _beat_row(record: Record) -> Row | None:
    """[time, is it an alert, has it failed] of a beat that ran."""
    at, result = time_of(record.get("ts")), record.get("result")
    if at is None or result == "skipped":
        return None
    return [to_us(at), result == "sent" and record.get("indicator") == "alert", result == "failed"]


MESSAGES: Final = RollupKind(
    name="messages",
    journal=CLASSIFIED,
    day_keys=("classified_at", "create_time"),
    time_key="create_time",
    row_of=_message_row,
    identity=2,
    columns=("at", "marks", "places"),
)
MENTIONS: Final = replace(MESSAGES, name="mentions", row_of=_mention_row, identity=None, columns=())
POSTED: Final = RollupKind(
    name="replies", journal=REPLIES, day_keys=("posted_at",), time_key="posted_at", row_of=_reply_row
)
SPENT: Final = RollupKind(name="spend", journal=SPEND, day_keys=("at",), time_key="at", row_of=_spend_row)
BEATS: Final = RollupKind(name="beats", journal=HEARTBEATS, day_keys=("ts",), time_key="ts", row_of=_beat_row)
KINDS: Final = (MESSAGES, MENTIONS, POSTED, SPENT, BEATS)


@dataclass(kw_only=True, slots=True)
class JournalDay:
    """The rows of what was appended to a journal on one day (UTC): all that lies between two places of it.

    `before` is the day before it that has one, `oldest` the oldest time (microseconds) of all days up to this one.
    `version` is the document's.
    """

    day: str
    start: Position = JOURNAL_START
    until: Position = JOURNAL_START
    before: str | None = None
    oldest: int | None = None
    rows: list[Row] = field(default_factory=list)
    version: int = 0
    known: dict[Any, int] = field(default_factory=dict)
    """Where the row of an identity stands; -1: among the rows of the day before."""

    def take(self, kind: RollupKind, record: Record, after: Position) -> None:
        """Add a record's row, once; `after` is the place after it."""
        self.until = after
        at = time_of(record.get(kind.time_key))
        if at is not None:
            us = to_us(at)
            self.oldest = us if self.oldest is None else min(self.oldest, us)
        row = kind.row_of(record)
        if row is None:
            return
        if kind.identity is not None:
            place = self.known.setdefault(row[kind.identity], len(self.rows))
            if place < len(self.rows):
                if place >= 0:
                    self.rows[place] = row
                return
        self.rows.append(row)

    def next(self, kind: RollupKind, day: str) -> JournalDay:
        """Return the day that follows, still empty."""
        known = {} if kind.identity is None else {row[kind.identity]: -1 for row in self.rows}
        return JournalDay(day=day, start=self.until, until=self.until, before=self.day, oldest=self.oldest, known=known)

    def content(self, kind: RollupKind) -> dict[str, Any]:
        """Return what the document holds."""
        rows: dict[str, Any] = {"rows": self.rows}
        if kind.columns:
            at, marks, places = zip(*self.rows, strict=True) if self.rows else ((), (), ())
            rows = {"at": list(at), "marks": "".join(marks), "places": "\n".join(places)}
        place = {"start": list(self.start), "until": list(self.until)}
        return {
            "format": FORMAT,
            "kind": kind.name,
            "day": self.day,
            **place,
            "before": self.before,
            "oldest": self.oldest,
            **rows,
        }


def read_day(kind: RollupKind, content: Record, version: int) -> JournalDay | None:
    """Return the day that a document holds, None for what is none."""
    try:
        if content["format"] != FORMAT:
            return None
        start, until = ((int(one[0]), int(one[1])) for one in (content["start"], content["until"]))
        rows = _rows_of(content) if kind.columns else list(content["rows"])
        known = {} if kind.identity is None else {row[kind.identity]: number for number, row in enumerate(rows)}
        return JournalDay(
            day=str(content["day"]),
            start=start,
            until=until,
            before=content["before"],
            oldest=content["oldest"],
            rows=rows,
            version=version,
            known=known,
        )
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def _rows_of(content: Record) -> list[Row]:
    places = content["places"].split("\n") if content["places"] else []
    return [list(row) for row in zip(content["at"], content["marks"], places, strict=True)]


def day_of(kind: RollupKind, record: Record, fallback: str) -> str:
    """Return the day on which a record was written, `yyyy-mm-dd` UTC; the fallback where it does not say."""
    for key in kind.day_keys:
        text = record.get(key)
        if isinstance(text, str) and (at := time_of(text)) is not None:
            return utc_day(at)
    return fallback


def utc_day(at: datetime) -> str:
    """Return a time's day in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def days_between(first: str, last: str) -> Sequence[str]:
    """Return the days from one to another, both included, oldest first.

    >>> days_between("2026-02-27", "2026-03-01")
    ['2026-02-27', '2026-02-28', '2026-03-01']
    """
    start, end = (date.fromisoformat(day).toordinal() for day in (first, last))
    return [str(date.fromordinal(number)) for number in range(start, end + 1)]
