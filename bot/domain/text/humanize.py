"""Times, lengths of time and distances in time, in words for people. Pure.

The terminal shows a time as it stands; Slack shows the same moment in the reader's zone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

LATE: Final = timedelta(minutes=5)
"""What is said so long after its time says so."""

WRONG_CLOCK: Final = timedelta(minutes=1)
"""By how much a clock must be off for people to be told."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def time_ago(now: datetime, then: datetime) -> str:
    """Return a distance in time; what lies ahead is now.

    >>> from datetime import UTC
    >>> time_ago(datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 10, 59, tzinfo=UTC))
    '1 h ago'
    """
    return f"{duration(now - then)} ago"


def duration(time: timedelta) -> str:
    """Return a length of time in its largest whole unit.

    >>> duration(timedelta(minutes=12)), duration(timedelta(seconds=4)), duration(timedelta(seconds=-4))
    ('12 min', '4 s', '0 s')
    """
    seconds = max(0, int(time.total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def clock_words(ahead: timedelta, whose: str) -> str:
    """Return how this machine's clock differs from another one; `ahead` is negative where it is behind.

    >>> clock_words(timedelta(minutes=-5), "Slack's")
    "clock is 5 min behind Slack's"
    """
    side = "ahead of" if ahead > timedelta() else "behind"
    return f"clock is {duration(abs(ahead))} {side} {whose}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun; `many` is the plural where it is not made with an s.

    >>> counted(1, "card"), counted(2_000, "card"), counted(0, "reply", "replies")
    ('1 card', '2,000 cards', '0 replies')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def unread_images(number: int) -> str:
    """Return that so many images were not read.

    >>> unread_images(1), unread_images(2)
    ('1 image was not read', '2 images were not read')
    """
    return f"{counted(number, 'image')} {'was' if number == 1 else 'were'} not read"


def ordinal(number: int) -> str:
    """Return a number as a place in an order.

    >>> [ordinal(number) for number in (1, 2, 3, 11, 22, 113)]
    ['1st', '2nd', '3rd', '11th', '22nd', '113th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def utc_text(at: datetime) -> str:
    """Return a moment to the minute.

    >>> utc_text(datetime(2026, 11, 21, 3, 12, 40, tzinfo=UTC))
    '2026-11-21 03:12 UTC'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
