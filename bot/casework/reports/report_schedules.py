"""Posts the brief and the end-of-day report when they are due, also after restarts and refusals.

A brief or report is recorded in brief.json before it is posted: a crash in between loses one but never posts two. What
Slack refuses for certain is tried again at the next tick. A late one says so, and for which day it is; one that is too
late is skipped, which is logged; one outside working hours comes when they start.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.casework.reports.daily_brief import WINDOW, BriefKind, DailyBrief, build_brief
from bot.casework.reports.measures import time_of
from bot.casework.thread_service import ThreadService
from bot.config.casework_settings import BriefSettings
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import LATE, duration
from bot.errors import ProviderError, Unconfirmed
from bot.ports import Store
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

STILL_WORTH_SAYING: Final = timedelta(hours=2)
A_DAY: Final = WINDOW + timedelta(hours=1) + STILL_WORTH_SAYING
"""What a brief looks back on where nothing holds it back: a day of 25 hours, and as late as it may be said."""

HELD_BACK: Final = timedelta(days=8)
"""How long a brief may wait for working hours: a week, and the day it was meant for."""

Say = Callable[[DailyBrief, str], None]
"""Posts a brief under a title in the ops channel; raises ProviderError if it was refused, Unconfirmed if nobody can
tell."""

TITLES: Final[Mapping[str, str]] = {BriefKind.MORNING: "Morning brief", BriefKind.EVENING: "End-of-day report"}


class BriefSchedule:
    """Posts the briefs that are due, at each `tick`; `zone` is the IANA name of their times, `hours` when to post."""

    def __init__(
        self,
        service: ThreadService,
        store: Store,
        settings: BriefSettings,
        stored: SingleDocument,
        *,
        say: Say,
        zone: str,
        hours: ActiveHours | None,
    ) -> None:
        self._service, self._store, self._stored, self._zone = service, store, stored, ZoneInfo(zone)
        self._say_it, self._hours = say, hours
        times = {BriefKind.MORNING: settings.morning, BriefKind.EVENING: settings.evening}
        self._times = {str(name): time.fromisoformat(at) for name, at in times.items() if at is not None}

    def tick(self) -> None:
        """Say what is due; raises StoreError when the disk refuses to remember it, and then nothing is said."""
        now, said = self._service.clock.now(), self._stored.read()
        slots = {name: slot for name, at in self._times.items() if (slot := self._slot(at, now)) is not None}
        today = f"{now.astimezone(self._zone):%Y-%m-%d}"  # a day in the future is a wrong clock's, and covers nothing
        unsaid = {
            name: slot for name, slot in slots.items() if not f"{slot:%Y-%m-%d}" <= str(said.get(name, "")) <= today
        }
        due = {name: slot for name, slot in unsaid.items() if _late_by(slot, now, self._hours) < STILL_WORTH_SAYING}
        if due:
            self._say(due, now)
        elif dropped := {name: f"{slot:%Y-%m-%d}" for name, slot in unsaid.items() if name in said}:
            log.warning("too late for the brief, not said: %s", dropped, extra={"action": "brief_dropped"})
            self._stored.update(dropped)

    def _slot(self, at: time, now: datetime) -> datetime | None:
        """Return the latest slot that could be said by now."""
        local = now.astimezone(self._zone)
        for days in range(2 if self._hours is None else HELD_BACK.days):
            slot = _slot(at, local - timedelta(days=days))
            if _late_by(slot, now, self._hours) >= timedelta():
                return slot
        return None

    def _title(self, name: str, slot: datetime, now: datetime) -> str:
        """Return what a brief is called: with its day where that is over, and how late it is."""
        is_over = slot.date() != now.astimezone(self._zone).date()
        late = _late_by(slot, now, self._hours)
        day = f" of {slot:%a} {slot.day} {slot:%b}" if is_over else ""
        return f"{TITLES[name]}{day}{f' ({duration(late)} late)' if late >= LATE else ''}"

    def _say(self, due: Mapping[str, datetime], now: datetime) -> None:
        """Say the latest of what is due; it covers the others."""
        before, name = self._stored.read(), max(due, key=lambda each: due[each])
        last, longest = time_of(before.get("said_at")), A_DAY if self._hours is None else HELD_BACK
        since = last if last is not None and now - longest < last < now else now - WINDOW
        try:
            brief = build_brief(self._store, since, now, BriefKind(name))
            self._service.cards.guard.require()  # a brief quotes questions
            days = {each: f"{slot:%Y-%m-%d}" for each, slot in due.items()}
            self._stored.update({**days, "said_at": now.isoformat()})
            self._say_it(brief, self._title(name, due[name], now))
        except Unconfirmed:
            log.info("a brief may have been said", extra={"action": "brief_unconfirmed"})
        except ProviderError:
            self._stored.change(lambda _: before)
            log.warning("no brief could be said", extra={"action": "brief_waits"}, exc_info=True)


def _late_by(slot: datetime, now: datetime, hours: ActiveHours | None) -> timedelta:
    """Return how long ago the first moment was at which a slot could be said."""
    return now - (slot if hours is None else hours.next_opening(slot))


def _slot(at: time, local: datetime) -> datetime:
    return local.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0, fold=0)
