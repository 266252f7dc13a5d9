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
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from bot.domain.text.humanize import WRONG_CLOCK, clock_words
from bot.ports import Clock

log = logging.getLogger(__name__)


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


class CorrectedClock:
    """Port Clock: this machine's, corrected by how far it is `ahead` of another one, behind where that is negative.

    `exact` is what a slow answer explains: so much is no difference. `whose` clock the other is and `advice` complete
    what people are told.
    """

    def __init__(self, clock: Clock, *, exact: timedelta, whose: str, advice: str) -> None:
        self.machine, self._exact, self._whose, self._advice = clock, exact, whose, advice
        self.ahead, self._lock = timedelta(), threading.Lock()
        self._said: str | None = None
        """On which side the clock was when that was last told."""

    def now(self) -> datetime:
        """Return the other clock's present time in UTC."""
        return self.machine.now() - self.ahead

    def correct(self, ahead: timedelta) -> str | None:
        """Take note of the difference; return what to tell people where the clock has just become wrong."""
        with self._lock:
            if abs(ahead - self.ahead) > self._exact:
                self.ahead = ahead if abs(ahead) > self._exact else timedelta()
                log.warning("this clock differs: %s", self._whose, extra={"action": "clock_skew", "ahead": str(ahead)})
            side = "ahead" if ahead > timedelta() else "behind"
            is_news = abs(ahead) >= WRONG_CLOCK and side != self._said
            if is_news or not self.ahead:
                self._said = side if is_news else None
        return f"This machine's {clock_words(ahead, self._whose)}. {self._advice}" if is_news else None


class ChatClock(CorrectedClock):
    """In the chat's time; until the chat has told its own it is this machine's."""

    def __init__(self, clock: Clock, say: Callable[[str], None]) -> None:
        """`say` is told once of a clock that is wrong; it must return at once."""
        advice = "Set it (timedatectl set-ntp true): times and schedules are wrong."
        super().__init__(clock, exact=timedelta(seconds=5), whose="Slack's", advice=advice)
        self._say = say

    def note(self, date: str | None) -> None:
        """Compare with the Date header of an answer that has just arrived; what is none changes nothing."""
        try:
            ahead = self.machine.now() - parsedate_to_datetime(date or "")
        except (ValueError, TypeError):  # TypeError: a time without a zone
            return
        if line := self.correct(ahead):
            self._say(line)


def shared_clock(clock: Clock) -> CorrectedClock:
    """Return the time of the database that replicas share, so that they can compare what they write down."""
    advice = "Triage uses the database's time; set the clock (timedatectl set-ntp true)."
    return CorrectedClock(clock, exact=timedelta(seconds=1), whose="the database's", advice=advice)
