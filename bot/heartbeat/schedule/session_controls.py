"""What people may do to sessions by command, and how every session stands, for lists and App Home.

Who may is asked before (see
handlers/commands/heartbeat_command.py). `wake` is the scheduler's, or on the terminal leaves a wake for the bot;
`cancel` stops a running beat and says whether there was one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.domain.answers import Answer, sentence
from bot.domain.heartbeats.beats import Envelope, Indicator, Wake
from bot.domain.heartbeats.session_state import (
    ChangedBy,
    EnabledOverride,
    IntervalOverride,
    SessionOverride,
    SessionState,
)
from bot.domain.hours import ActiveHours
from bot.domain.intervals import format_interval, next_slot, parse_interval, slot_of
from bot.domain.severity import Severity
from bot.domain.text.humanize import utc_text
from bot.errors import ConfigError, InputError, StoreError
from bot.heartbeat.schedule.session_wording import has_run
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory, SessionRegistry
from bot.ports.collections import Collection

SHORTEST: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(days=366)
DEFAULT: Final = "default"


class SessionControls:
    """Switches of all sessions; every method raises InputError for an unknown session, with the near names."""

    def __init__(
        self,
        sessions: SessionRegistry,
        overrides: Collection[SessionOverride],
        wake: Callable[[str, Wake], str],
        cancel: Callable[[str], bool],
    ) -> None:
        self._sessions, self._overrides, self._wake, self._cancel = sessions, overrides, wake, cancel

    def switch(self, session_id: str, by: ChangedBy, *, on: bool) -> Answer:
        """Switch a session's heartbeat on or off; it stays so across restarts, whatever triage.yml says.

        Off also stops the running beat, if it runs in this process.
        """
        session = self._sessions.get(session_id)
        configured = self._sessions.configured(session.id).heartbeat.enabled
        switch = EnabledOverride(value=on, by=by) if on != configured else None
        self._overrides.evolve(session.id, enabled=switch)
        if on:
            return sentence(f"{session.id} is on.", f"heartbeat run {session.id}")
        stopped = " The beat under way is being stopped." if self._cancel(session.id) else ""
        return sentence(f"{session.id} is off; nothing starts a beat.{stopped}", undo=("heartbeat", "on", session.id))

    def pace(self, session_id: str, interval: str, by: ChangedBy) -> Answer:
        """Set how often a session beats; `default` gives the word back to triage.yml.

        Raises:
            InputError: the interval is none, shorter than a minute or longer than a year.
        """
        session = self._sessions.get(session_id)
        configured = self._sessions.configured(session.id).heartbeat.every
        every = configured if interval == DEFAULT else _interval(interval, session.id)
        pace = IntervalOverride(value=every, by=by) if every != configured else None
        self._overrides.evolve(session.id, every=pace)
        said = f"{session.id} beats every {format_interval(every)}{'' if pace else ', as triage.yml says'}."
        return sentence(said, undo=("heartbeat", "every", session.id, DEFAULT) if pace else ())

    def run(self, session_id: str, wake: Wake = Wake.ON_DEMAND) -> Answer:
        """Ask for a beat now."""
        return sentence(self._wake(self._sessions.get(session_id).id, wake))


def _interval(text: str, session_id: str) -> timedelta:
    try:
        every = parse_interval(text)
    except ConfigError as error:
        raise InputError(f"{error};", next_step=f"type /triage heartbeat every {session_id} 30m") from error
    if not SHORTEST <= every <= LONGEST:
        raise InputError(
            f"{text} is not between 1m and 366d;", next_step=f"to stop the beats: /triage heartbeat off {session_id}"
        )
    return every


class SessionStatus(StrEnum):
    """Whether a session beats at all."""

    ON = "on"
    OFF = "off"
    PAUSED = "paused"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRow:
    """One session in a list. `indicator` is None where its settings want none shown."""

    id: str
    name: str
    owner: str
    """Who is told now: a user, a user group, or "" for nobody."""
    is_master: bool
    standing: SessionStatus
    indicator: Indicator | None
    every: str
    hours: str
    last: Envelope | None
    """The last beat that began; refusals are none."""
    next_at: datetime | None
    """The next slot inside the hours, if the session is on."""
    open_findings: int
    notes: tuple[str, ...]
    open_pages: int = 0
    """Of the open findings, how many page."""
    told_at: datetime | None = None
    """When somebody was last told of an open finding; None: nobody was."""

    @property
    def status(self) -> str:
        """One word for how it stands; with an open finding it is never ok."""
        if self.standing is not SessionStatus.ON or self.indicator is None:
            return str(self.standing)
        return "new" if self.last is None and self.indicator is Indicator.NONE else str(self.indicator)

    def record(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "id": self.id,
            "name": self.name,
            "owner": self.owner or None,
            "master": self.is_master,
            "status": self.status,
            "every": self.every,
            "hours": self.hours,
            "last": self.last.model_dump(mode="json") if self.last else None,
            "next_at": self.next_at,
            "open_findings": self.open_findings,
            "open_pages": self.open_pages,
            "notes": self.notes,
        }


def rows(
    sessions: SessionRegistry, store: SessionMemory, zones: OwnerZones, record: BeatLog, now: datetime
) -> list[SessionRow]:
    """Return every session as it stands: those with a page first, then in the order of triage.yml."""
    ran = record.latest(has_run)
    found = [_row(session, sessions, store, zones, ran.get(session.id), now) for session in sessions.all()]
    return sorted(found, key=lambda row: row.open_pages == 0)


def _row(
    session: Session,
    sessions: SessionRegistry,
    store: SessionMemory,
    zones: OwnerZones,
    last: Envelope | None,
    now: datetime,
) -> SessionRow:
    (state, unread), hours = _state(store, session.id), zones.hours(session)
    paused = state.failures.paused_until
    is_paused = paused is not None and now < paused
    standing = (
        SessionStatus.OFF if not session.beat.enabled else SessionStatus.PAUSED if is_paused else SessionStatus.ON
    )
    still = [finding for finding in state.findings.values() if finding.is_open]
    failing = f"paused after {state.failures.count} failures: {state.failures.key}" if is_paused else ""
    notes = [unread, failing, _screening(last), _switched(session), zones.zone_note(session)]
    return SessionRow(
        id=session.id,
        name=session.name,
        owner=session.owner,
        is_master=session.is_master,
        standing=standing,
        indicator=_indicator(last, is_open=bool(still)) if session.beat.visibility.use_indicator else None,
        every=pace(session, sessions),
        hours=f"{hours.start}-{hours.end} {hours.timezone}",
        last=last,
        next_at=next_beat(session, hours, now) if standing is SessionStatus.ON else None,
        open_findings=len(still),
        open_pages=sum(finding.severity is Severity.PAGE for finding in still),
        told_at=max((finding.sent_at for finding in still if finding.sent_at), default=None),
        notes=tuple(filter(None, notes)),
    )


def _state(store: SessionMemory, session_id: str) -> tuple[SessionState, str]:
    """Return a session's state; the defaults, and why, where it cannot be read."""
    try:
        return store.load(session_id), ""
    except StoreError as error:
        return SessionState(), f"no heartbeats: {error}"


def _indicator(last: Envelope | None, *, is_open: bool) -> Indicator:
    """Return what the last beat showed, and as findings are opened and closed between beats, what stands now."""
    shown = last.indicator if last else Indicator.NONE
    if is_open and shown is not Indicator.ERROR:
        return Indicator.ALERT
    return Indicator.OK if shown is Indicator.ALERT else shown


def pace(session: Session, sessions: SessionRegistry) -> str:
    """Return how often a session beats, and who said so.

    `every 15m (set by @ana, config says 30m)`
    """
    every = f"every {format_interval(session.beat.every)}"
    override = session.override.every if session.override else None
    if override is None:
        return every
    configured = format_interval(sessions.configured(session.id).heartbeat.every)
    return f"{every} (set by @{override.by.name}, config says {configured})"


def _screening(last: Envelope | None) -> str:
    failure = last.screen_error if last else ""
    return f"its pre-screen fails, so every beat costs a full run: {failure}" if failure else ""


def _switched(session: Session) -> str:
    override = session.override.enabled if session.override else None
    if override is None:
        return ""
    return f"switched {'on' if override.value else 'off'} by @{override.by.name} on {utc_text(override.by.at)}"


def next_beat(session: Session, hours: ActiveHours, now: datetime) -> datetime:
    """Return when the session's interval makes a beat next: at a slot inside the hours, or as they open.

    A slot outside them is made up for as they open, where the slot to come is outside them too.
    """
    name, every = session.id, session.beat.every
    upcoming = next_slot(name, every, now)
    if not (hours.contains(upcoming) or hours.contains(now) or hours.contains(slot_of(name, every, now))):
        opening = hours.next_opening(now)
        if opening < upcoming:
            return opening
    opening = hours.next_opening(upcoming)
    following = next_slot(name, every, opening - timedelta(microseconds=1))
    return following if hours.contains(following) else opening
