"""Sends the lead the review of the week, once a week, restarts, refusals and crashes included.

What is meant to be sent is on disk before the post, and that it was sent after it. In between, and where Slack did not
confirm the post, the message is looked for by its mark before it is posted again. A week without anything to say has
no message. One that could not be sent for a day is given up, which is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.casework.reports.journal_records import time_of
from bot.casework.reports.weekly_review import WeeklyReview
from bot.config.casework_settings import ReviewSettings
from bot.config.field_types import DAYS
from bot.domain.hours import ActiveHours
from bot.errors import ProviderError
from bot.ports import Clock
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

STILL_WORTH_SENDING: Final = timedelta(days=1)
A_WEEK: Final = timedelta(weeks=1)

Send = Callable[[WeeklyReview, str, datetime], None]
"""Sends a review under the date of its week, unless it stands there since it was first meant to be sent, at that time;
raises ProviderError if it does not stand there, or nobody can tell."""


class ReviewSchedule:
    """What is ticked; `zone` is the IANA name that the settings' time is meant in, `hours` when it may speak."""

    def __init__(
        self,
        clock: Clock,
        settings: ReviewSettings,
        stored: SingleDocument,
        *,
        build: Callable[[], WeeklyReview],
        send: Send,
        zone: str,
        hours: ActiveHours | None = None,
    ) -> None:
        self._clock, self._stored, self._zone, self._hours = clock, stored, ZoneInfo(zone), hours
        self._lead, self._day, self._at = settings.lead, DAYS.index(settings.day), time.fromisoformat(settings.at)
        self._build, self._send = build, send

    def tick(self) -> None:
        """Send what is due; raises StoreError when the disk refuses to remember it, or the week cannot be read."""
        if self._lead is None:
            return
        now, known = self._clock.now(), self._stored.read()
        slot = self._slot(now)
        week, today = f"{slot:%Y-%m-%d}", f"{now.astimezone(self._zone):%Y-%m-%d}"
        late = now - (slot if self._hours is None else self._hours.next_opening(slot))
        if late < timedelta() or week <= str(known.get("sent", "")) <= today:
            return
        if late < STILL_WORTH_SENDING:
            self._try(week, now, known)
        elif known.get("meant") == week:
            log.warning("too late for the review, not sent: %s", week, extra={"action": "review_dropped"})
            self._stored.update({"sent": week})

    def _try(self, week: str, now: datetime, known: Mapping[str, Any]) -> None:
        meant_at = time_of(known.get("meant_at")) if known.get("meant") == week else None
        review = self._build()
        if review.has_news:
            if meant_at is None:
                meant_at = now
                self._stored.update({"meant": week, "meant_at": now.isoformat()})
            try:
                self._send(review, week, meant_at)
            except ProviderError:
                log.warning("the review could not be sent", extra={"action": "review_waits"}, exc_info=True)
                return
        self._stored.update({"sent": week})

    def _slot(self, now: datetime) -> datetime:
        """Return the latest time of the week that is past."""
        local = now.astimezone(self._zone)
        day = local - timedelta(days=(local.weekday() - self._day) % 7)
        slot = day.replace(hour=self._at.hour, minute=self._at.minute, second=0, microsecond=0, fold=0)
        return slot if slot <= now else slot - A_WEEK
