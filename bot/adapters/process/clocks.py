"""The clocks of this machine, of the chat and of a database, and the name of the machine's time zone.

The chat's time is this machine's clock corrected by the Date header of the chat's answers; gaps are measured by it,
because messages carry it. A clock that is wrong by more than a minute is reported once, and again after it was right
or is wrong in the other direction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from bot.domain.text.humanize import WRONG_CLOCK, clock_words
from bot.ports import Clock

log = logging.getLogger(__name__)

EXACT: Final = timedelta(seconds=5)
"""What a header of whole seconds and a slow answer explain; less is no difference."""

ANSWER: Final = timedelta(seconds=1)
"""What a slow answer of the database explains."""


class SystemClock:
    """Port Clock over the operating system."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


def local_zone(variables: Mapping[str, str]) -> str:
    """Return the IANA name of the machine's zone: that of TZ, else what the system says; "UTC" where neither names one.

    >>> local_zone({"TZ": "Asia/Tokyo"})
    'Asia/Tokyo'
    """
    return next((name for name in (variables.get("TZ", "").removeprefix(":"), _system_zone()) if _exists(name)), "UTC")


def _system_zone() -> str:
    try:
        return get_localzone_name() or ""
    except ZoneInfoNotFoundError:  # the system's files contradict each other
        return ""


def _exists(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name).key)
    except (KeyError, ValueError, OSError):
        return False


class ChatClock:
    """Port Clock in the chat's time; until the chat has told its own it is this machine's."""

    def __init__(self, clock: Clock, say: Callable[[str], None]) -> None:
        """`say` is told once of a clock that is wrong; it must return at once."""
        self._clock, self._say = clock, say
        self._ahead, self._lock = timedelta(), threading.Lock()
        self._said: str | None = None
        """On which side the clock was when that was last told."""

    def now(self) -> datetime:
        """Return the chat's present time in UTC."""
        return self._clock.now() - self._ahead

    def ahead(self) -> timedelta:
        """Return how far this machine's clock is ahead of the chat's; negative where it is behind."""
        return self._ahead

    def note(self, date: str | None) -> None:
        """Compare with the Date header of an answer that has just arrived; what is none changes nothing."""
        try:
            ahead = self._clock.now() - parsedate_to_datetime(date or "")
        except (ValueError, TypeError):  # TypeError: a time without a zone
            return
        side = "ahead" if ahead > timedelta() else "behind"
        self._ahead = ahead = ahead if abs(ahead) > EXACT else timedelta()
        with self._lock:
            is_news = abs(ahead) > WRONG_CLOCK and side != self._said
            if is_news or not ahead:
                self._said = side if is_news else None
        if is_news:
            log.warning("this clock differs from the chat's", extra={"action": "clock_skew", "ahead": str(ahead)})
            self._say(_skew_line(ahead))


def _skew_line(ahead: timedelta) -> str:
    """Return what to tell of a clock that is wrong.

    >>> _skew_line(timedelta(hours=24))
    "This machine's clock is 1 d ahead of Slack's. Set it (timedatectl set-ntp true): times and schedules are wrong."
    """
    said = clock_words(ahead, "Slack's")
    return f"This machine's {said}. Set it (timedatectl set-ntp true): times and schedules are wrong."


class SharedClock:
    """Port Clock in the time of the database that replicas share, so that they can compare what they write down."""

    def __init__(self, clock: Clock) -> None:
        self.machine, self.ahead, self._said = clock, timedelta(), False

    def now(self) -> datetime:
        """Return the database's present time in UTC."""
        return self.machine.now() - self.ahead

    def correct(self, ahead: timedelta) -> str | None:
        """Take note of how far this machine's clock is ahead; return what to tell people, once, if it is wrong."""
        if abs(ahead - self.ahead) > ANSWER:
            self.ahead = ahead if abs(ahead) > ANSWER else timedelta()
            log.warning("the clock differs from the database's", extra={"action": "clock_skew", "ahead": str(ahead)})
        if self._said or abs(ahead) < WRONG_CLOCK:
            return None
        self._said = True
        said = clock_words(ahead, "the database's")
        return f"This machine's {said}. Triage uses the database's time; set the clock (timedatectl set-ntp true)."
