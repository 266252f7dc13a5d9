"""Hours of the day: when interval beats may run and when people work, by the wall clock of one zone.

Pure but for zoneinfo, which looks zones up in the system's or the `tzdata` package's tables. The start is inside, the
end is not; a window whose end is before its start wraps past midnight. What the local clock shows is all that counts:
an hour that a clock change skips is never inside, one that it repeats counts both times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.errors import ConfigError

_CLOCK: Final = re.compile("([01][0-9]|2[0-3]):([0-5][0-9])")
_MIDNIGHT: Final = 24 * 60
_MINUTE: Final = timedelta(minutes=1)
_LONGEST_WAIT: Final = timedelta(days=9)


@dataclass(frozen=True)
class ActiveHours:
    """A daily window, for example `ActiveHours("08:00", "22:00", "Europe/Berlin")`.

    Times are two-digit `HH:MM`; `24:00` is allowed as the end. The zone is an IANA name (`user` and `local` are
    resolved before). `days` are the weekdays a window may begin on, 0 for Monday.

    Raises:
        ConfigError: naming every value that is wrong, and what would be right.

    >>> night = ActiveHours("22:00", "06:00", "UTC")
    >>> night.contains(datetime(2026, 3, 1, 5, 59, tzinfo=UTC)), night.contains(datetime(2026, 3, 1, 6, tzinfo=UTC))
    (True, False)
    """

    start: str
    end: str
    timezone: str
    days: frozenset[int] = frozenset(range(7))

    def __post_init__(self) -> None:
        ends = {"start": self.start, "end": self.end}
        problems = [f"{name} {problem}" for name, value in ends.items() if (problem := clock_problem(value))]
        if self.start == "24:00":
            problems = ['start is "24:00"; a window that begins at midnight starts at "00:00"', *problems]
        elif not problems and self.start == self.end:
            problems.append(f'start and end are both "{self.start}"; for the whole day write "00:00" and "24:00"')
        if problem := zone_problem(self.timezone):
            problems.append(f"timezone {problem}")
        if problems:
            raise ConfigError(*problems)

    def contains(self, at: datetime) -> bool:
        """Whether the window is open at a moment; raises ValueError if `at` is naive."""
        local = _aware(at).astimezone(ZoneInfo(self.timezone))
        minute = local.hour * 60 + local.minute
        start, end = _minutes(self.start), _minutes(self.end)
        if start < end:
            return start <= minute < end and local.weekday() in self.days
        began = local.weekday() if minute >= start else (local.weekday() - 1) % 7
        return (minute >= start or minute < end) and began in self.days

    def next_opening(self, at: datetime) -> datetime:
        """Return the first moment from `at` on that is inside, in UTC; that is `at` itself while the window is open.

        Looks at one minute after the other, for about 2 ms a day: a clock change may skip the start, the whole
        window, or (Samoa, 2011) the whole day.

        Raises:
            ValueError: `at` is naive.

        >>> ActiveHours("08:00", "22:00", "UTC").next_opening(datetime(2026, 3, 1, 23, 15, 7, tzinfo=UTC))
        datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
        """
        moment = _aware(at).astimezone(UTC)
        latest = moment + _LONGEST_WAIT
        while not self.contains(moment) and moment < latest:
            moment = moment.replace(second=0, microsecond=0) + _MINUTE
        return moment

    def opening_between(self, answered: datetime, now: datetime, upcoming: datetime) -> datetime | None:
        """Return when a slot that was refused outside the window is made up for: as it opens, before the slot to come.

        `answered` is the last moment a slot was; None where that was inside, or the one to come (`upcoming`) is. Of a
        long interval all slots might be outside.
        """
        if self.contains(answered) or self.contains(upcoming):
            return None
        opening = self.next_opening(now)
        return opening if opening < upcoming else None


def clock_problem(value: object) -> str | None:
    r"""Return what is wrong with an end of a window, and what would be right; None where nothing is.

    >>> clock_problem("08:00"), clock_problem("8:00")
    (None, 'is \'8:00\'; write a time in quotes with two digits each, such as "08:00"')
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MIDNIGHT:
        meant = f"{value // 60:02}:{value % 60:02}"
        return f'is the number {value}, which is how YAML reads {meant} without quotes; write "{meant}"'
    if isinstance(value, str) and (_CLOCK.fullmatch(value) or value == "24:00"):
        return None
    return f'is {repr(value)[:40]}; write a time in quotes with two digits each, such as "08:00"'


def _minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def zone_problem(name: object) -> str | None:
    r"""Return what is wrong with the name of a zone, and what would be right; None where nothing is.

    >>> zone_problem("UTC"), zone_problem("Mars")
    (None, '\'Mars\' is unknown; write an IANA name such as "Europe/Berlin" or "UTC"')
    """
    try:
        if isinstance(name, str) and ZoneInfo(name):
            return None
    except (KeyError, ValueError, OSError):  # unknown; a path or a NUL; a folder such as "Europe"
        pass
    return f'{repr(name)[:60]} is unknown; write an IANA name such as "Europe/Berlin" or "UTC"'


def _aware(at: datetime) -> datetime:
    if at.utcoffset() is None:
        raise ValueError(f"{at!r} has no zone; whether it is inside cannot be told")
    return at
