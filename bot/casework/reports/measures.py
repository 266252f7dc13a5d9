"""Types that reports share: periods of time, the times of journal records, and measured values with their targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Self

from bot.domain.questions.feedback import Feedback
from bot.ports import Store
from bot.ports.collections import FEEDBACK, Collection

OLD_IN_A_ROW: Final = 200
"""So many records that are too old end the way back: one alone may come from a clock that was set back."""


def recent_records(store: Store, name: str, key: str, since: datetime) -> list[dict[str, Any]]:
    """Return the records of a journal whose time, under `key`, is not before a moment, oldest first.

    All of them are in memory at once. Raises StoreError.
    """
    return [record for _, record in timed_records(store, name, key, since)][::-1]


def timed_records(store: Store, name: str, key: str, since: datetime) -> Iterator[tuple[datetime, dict[str, Any]]]:
    """Yield those records newest first, each with its time.

    The journal is read from its end until `OLD_IN_A_ROW` records are older. Raises StoreError.
    """
    older = 0
    for record in store.journal(name).newest_first():
        at = time_of(record.get(key))
        if at is not None and at >= since:
            older = 0
            yield at, record
            continue
        older += 1
        if older == OLD_IN_A_ROW:
            return


def read_feedback(store: Store) -> list[Feedback]:
    """Return all votes, for whoever measures them; writes nothing and leaves out what cannot be read."""
    return [one for one in Collection(store.documents, FEEDBACK).parsed().values() if one is not None]


def known_cost(record: Mapping[str, Any]) -> float | None:
    """Return what a line of spend.ndjson says a run cost, in US dollars; None where it does not."""
    cost = record.get("cost_usd")
    return float(cost) if isinstance(cost, int | float) else None


def time_of(text: object) -> datetime | None:
    """Return a time in UTC, or None for what is none, has no zone, or is no time of UTC's.

    >>> time_of("2026-03-01T01:30+02:00"), time_of("9999-12-31T23:59-14:00")
    (datetime.datetime(2026, 2, 28, 23, 30, tzinfo=datetime.timezone.utc), None)
    """
    try:
        at = datetime.fromisoformat(str(text))
        return at.astimezone(UTC) if at.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


class Measure(NamedTuple):
    """One criterion; `ok` is None where there is not enough data, and `missing` says then what is missing.
    `note` says what a missed target may mean, or what else was counted.

    `n` is how many things were looked at; `value` is what came of them, None where there were none.
    """

    name: str
    what: str
    target: str
    value: float | None
    shown: str
    n: int
    ok: bool | None
    missing: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time; the start belongs to it and the end does not."""

    start: datetime
    end: datetime

    @classmethod
    def last(cls, days: float, now: datetime) -> Self:
        """Return the days before now; now belongs to them."""
        end = now + timedelta(microseconds=1)
        return cls(end - timedelta(days=days), end)

    @property
    def days(self) -> float:
        """How long it is."""
        return (self.end - self.start) / timedelta(days=1)

    def holds(self, at: datetime) -> bool:
        """Whether a moment belongs to it."""
        return self.start <= at < self.end

    def weeks(self, count: int) -> list[Window]:
        """Return the weeks up to its end, the latest first."""
        ends = [self.end - timedelta(weeks=number) for number in range(count)]
        return [Window(end - timedelta(weeks=1), end) for end in ends]


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole, None of nothing.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def middle(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing.

    >>> middle([3, 1, 2]), middle([])
    (2, None)
    """
    known = sorted(values)
    half = len(known) // 2
    if not known:
        return None
    return known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2


def measure_total(costs: Iterable[float | None]) -> float | None:
    """Return a sum of costs in US dollars, None where one is unknown: a sum of the others would be a lie.

    >>> measure_total([0.5, 0.25]), measure_total([0.5, None]), measure_total([])
    (0.75, None, 0)
    """
    found = list(costs)
    known = [cost for cost in found if cost is not None]
    return sum(known) if len(known) == len(found) else None


def percent(value: float | None) -> str:
    """Return a share as people read it; one that is not nothing never reads as nothing.

    >>> percent(0.254), percent(0.004), percent(None)
    ('25 %', '0.4 %', '–')
    """
    if value is None:
        return "–"
    return f"{value:.1%}".replace("%", " %") if 0 < value < 0.1 else f"{value:.0%}".replace("%", " %")


def seconds(value: float | None) -> str:
    """Return a length of time as people read it.

    >>> seconds(4.25), seconds(150), seconds(7_500), seconds(None)
    ('4.2 s', '2.5 min', '2.1 h', '–')
    """
    if value is None:
        return "–"
    if value < 60:
        return f"{value:.1f} s"
    return f"{value / 60:.1f} min" if value < 3_600 else f"{value / 3_600:.1f} h"


def dollars(value: float | None) -> str:
    """Return a cost as people read it.

    >>> dollars(0.5), dollars(0.0012), dollars(None)
    ('$0.50', '$0.0012', '–')
    """
    if value is None:
        return "–"
    return f"${value:.2f}" if value >= 0.01 or value == 0 else f"${value:.2g}"
