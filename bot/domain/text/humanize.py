"""Words for people: times and lengths of time, names in place of ids, and what somebody may have meant. Pure.

The terminal shows a time as it stands; Slack shows the same moment in the reader's zone. Of the words that somebody may
have meant those come first that begin alike, then those spelled alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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


_MENTION: Final = re.compile(r"<(?:[@#]|!subteam\^)([A-Z0-9]{2,25})(?:\|[^<>|\n]{0,80})?>")


class Names:
    """Names by id, as they were last learned; an id without one stays an id."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}

    def name(self, slack_id: str) -> str:
        """Return `@name` of a person, `#name` of a channel, or the id.

        >>> Names({"U0ANA": "ana", "C0HELP": "help"}).name("U0ANA"), Names().name("U0ANA")
        ('@ana', 'U0ANA')
        """
        known = self._names.get(slack_id)
        return f"{'#' if slack_id[:1] in 'CG' else '@'}{known}" if known else slack_id

    def text(self, text: str) -> str:
        """Return text whose mentions are names.

        >>> Names({"U0ANA": "ana", "C0HELP": "help"}).text("<@U0ANA> in <#C0HELP|x> asked <@U9>")
        '@ana in #help asked U9'
        """
        return _MENTION.sub(lambda found: self.name(found[1]), text)


MOST: Final = 3
READ_CHARS: Final = 60
"""Nobody means a known word by a longer one, and comparing costs the square of the length."""


ALIKE: Final = 0.6
"""The share of letters, 0 to 1, that two words have in common where one may be a slip for the other."""


def near_ones(word: str, known: Iterable[str], *, most: int = MOST, cutoff: float = ALIKE) -> tuple[str, ...]:
    """Return the known words near to one, the nearest first; case does not matter, and "" is near to none.

    >>> near_ones("Paus", ["pause", "resume"]), near_ones("approvers", ["approve-list"]), near_ones("xyz", ["pause"])
    (('pause',), ('approve-list',), ())
    """
    said = word.casefold()[:READ_CHARS]
    if not said:
        return ()
    by_fold = {one.casefold(): one for one in known}
    begins = [one for fold, one in by_fold.items() if len(said) > 1 and fold.startswith(said)]
    alike = [by_fold[fold] for fold in spelled_alike(said, by_fold, most=most, cutoff=cutoff)]
    stems = [one for fold, one in by_fold.items() if len(said) > 4 and fold.startswith(said[:5])]
    return tuple(dict.fromkeys([*begins, *alike, *stems]))[:most]


def spelled_alike(word: str, known: Iterable[str], *, most: int = MOST, cutoff: float = ALIKE) -> list[str]:
    """Return the known texts that share at least `cutoff` (0 to 1) of their letters with one, the nearest first.

    >>> spelled_alike("src/shp.py", ["src/shop.py", "README.md"])
    ['src/shop.py']
    """
    import difflib  # here: a command that is typed right starts without it

    return difflib.get_close_matches(word, list(known), n=most, cutoff=cutoff)
