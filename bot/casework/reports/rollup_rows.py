"""What a report needs of each journal: one short row a record, its time (microseconds since 1970) first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from bot.casework.reports.measures import known_cost, time_of, to_us
from bot.domain.threads import hash_draft
from bot.ports.collections import CLASSIFIED, REPLIES, SPEND

Record = Mapping[str, Any]
FORMAT: Final = 3
"""Of the rows of journals; days of another format are counted anew."""

Row = list[Any]
_THREAD_RUN: Final = re.compile(r"(?!terminal\.)[\w-]+\.[\w-]+\.\d+\.\d+-(?!eval$)")
"""How the run of a thread is named; a beat's is not, nor one of `triage investigate` or `triage eval`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RollupKind:
    """A journal and its rows; `written_key` names the time at which a record was written."""

    name: str
    journal: str
    written_key: str
    row_of: Callable[[Record], Row | None]


def _message_row(record: Record) -> Row | None:
    """[time, is it actionable, channel and ts] of a message."""
    at = time_of(record.get("create_time"))
    if at is None or record.get("msg_type") in ("edit", "delete"):
        return None
    place = f"{record.get('chat_id')} {record.get('message_id')}"
    return [to_us(at), record.get("classification") == "actionable", place]


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


MESSAGES: Final = RollupKind(name="messages", journal=CLASSIFIED, written_key="classified_at", row_of=_message_row)
POSTED: Final = RollupKind(name="replies", journal=REPLIES, written_key="posted_at", row_of=_reply_row)
SPENT: Final = RollupKind(name="spend", journal=SPEND, written_key="at", row_of=_spend_row)
KINDS: Final = (MESSAGES, POSTED, SPENT)


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
