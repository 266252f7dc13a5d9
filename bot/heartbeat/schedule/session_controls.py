"""What people do to sessions by command, the same in Slack and on the terminal. Who may is asked before."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.domain.answers import Answer, sentence
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import (
    ChangedBy,
    EnabledOverride,
    InboxMessage,
    IntervalOverride,
    MessageKind,
    SessionOverride,
)
from bot.domain.intervals import format_interval, parse_interval
from bot.domain.secrets import redact
from bot.domain.text.sanitize import check_whole, has_visible, one_line, strip_hidden
from bot.errors import ConfigError, InputError
from bot.heartbeat.schedule.session_answers import EARLIER, list_answer, log_answer, remarks, why_answer
from bot.heartbeat.schedule.session_rows import rows
from bot.heartbeat.schedule.session_wording import midnight_in
from bot.heartbeat.sessions.session_registry import BeatLog, Owners, Session, SessionMemory, SessionRegistry, WakeBox
from bot.ports import collections

LOG_LINES: Final = 20
SHORTEST: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(days=366)
DEFAULT: Final = "default"
MAX_CHARS: Final = 2_000
"""How long an assignment may be."""
SHOWN_CHARS: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionControls:
    """Answers every verb of `heartbeat`.

    `wake` is the scheduler's, or on the terminal leaves a wake for the bot, and says what becomes of it; `cancel` stops
    a beat that runs in this process and says whether there was one. `known_secrets` are blacked out in assignments, as
    are all that look like secrets.
    """

    sessions: SessionRegistry
    store: SessionMemory
    zones: Owners
    record: BeatLog
    overrides: collections.Collection[SessionOverride]
    wakes: WakeBox
    wake: Callable[[str, Wake], str]
    cancel: Callable[[str], bool]
    known_secrets: Collection[str] = ()

    def listed(self, now: datetime) -> Answer:
        """Return every session as it stands."""
        return list_answer(rows(self.sessions, self.store, self.zones, self.record, now), now)

    def answer(self, verb: str, session_id: str, words: str, by: ChangedBy, *, may_read: bool = True) -> Answer:
        """Do what a verb says with a session, or tell of it; what was found is for who `may_read`.

        Raises:
            InputError: there is no such session, the message names the near ones; or `words`, what follows it, cannot
                be done.
            StoreError: the disk refuses it.
        """
        session = self.sessions.get(session_id)
        match verb:
            case "log":
                return log_answer(session.id, self.record.recent(session.id, LOG_LINES), may_read=may_read)
            case "why":
                zone, beats = self.zones.hours(session).timezone, self.record.recent(session.id, 1 + EARLIER)
                today = self.record.since(session.id, midnight_in(zone, by.at))
                return why_answer(session.id, beats, remarks(today, zone, by.at, may_read=may_read), may_read=may_read)
            case "assign":
                return sentence(self._assign(session, words, by))
            case "every":
                return self._pace(session, "".join(words.split()).lower(), by)
            case "run" | "wake":
                return sentence(self.wake(session.id, Wake.ON_DEMAND if verb == "run" else Wake.AUTOMATION))
            case _:
                return self._switch(session, by, on=verb == "on")

    def _assign(self, session: Session, text: str, by: ChangedBy) -> str:
        """Put what is to be done into the session's inbox and wake it; return what was queued and what to type next."""
        said = redact(_checked(text, session.id), self.known_secrets)
        self.wakes.drop(session.id, Wake.ASSIGNMENT)  # a crash after this makes a beat too many, never one too few
        message = InboxMessage(
            at=by.at,
            from_=f"@{one_line(by.name, 80)}",  # a session's id has no such sign
            to=session.id,
            kind=MessageKind.ASSIGNMENT,
            text=said,
            data={"assigned_by": by.id},
        )
        self.store.send(message)
        queued = f"Assigned to {session.id}: “{one_line(said, SHOWN_CHARS)}”. It waits in the inbox for the next beat."
        return f"{queued} {self.wake(session.id, Wake.ASSIGNMENT)}"

    def _switch(self, session: Session, by: ChangedBy, *, on: bool) -> Answer:
        """Switch a heartbeat on or off, across restarts and whatever triage.yml says; off stops the running beat."""
        configured = self.sessions.configured(session.id).heartbeat.enabled
        switch = EnabledOverride(value=on, by=by) if on != configured else None
        self.overrides.evolve(session.id, enabled=switch)
        if on:
            return sentence(f"{session.id} is on.", f"heartbeat run {session.id}")
        stopped = " The beat under way is being stopped." if self.cancel(session.id) else ""
        return sentence(f"{session.id} is off; nothing starts a beat.{stopped}", undo=("heartbeat", "on", session.id))

    def _pace(self, session: Session, interval: str, by: ChangedBy) -> Answer:
        """Set how often a session beats; `default` gives the word back to triage.yml."""
        configured = self.sessions.configured(session.id).heartbeat.every
        every = configured if interval == DEFAULT else _interval(interval, session.id)
        pace = IntervalOverride(value=every, by=by) if every != configured else None
        self.overrides.evolve(session.id, every=pace)
        said = f"{session.id} beats every {format_interval(every)}{'' if pace else ', as triage.yml says'}."
        return sentence(said, undo=("heartbeat", "every", session.id, DEFAULT) if pace else ())


def _interval(text: str, session_id: str) -> timedelta:
    """Return an interval as typed; raises InputError for none, and for one that is too short or too long."""
    if not text:
        raise InputError("How often?", next_step=f"Type /triage heartbeat every {session_id} 15m")
    try:
        every = parse_interval(text)
    except ConfigError as error:
        raise InputError(f"{error};", next_step=f"type /triage heartbeat every {session_id} 30m") from error
    if not SHORTEST <= every <= LONGEST:
        stop = f"to stop the beats: /triage heartbeat off {session_id}"
        raise InputError(f"{text} is not between 1m and 366d;", next_step=stop)
    return every


def _checked(text: str, session_id: str) -> str:
    """Return the text, stripped, without characters that its readers do not see."""
    said = strip_hidden(check_whole(text))[0].strip()
    if not has_visible(said):
        raise InputError(
            "What is to be done?", next_step=f"Type /triage heartbeat assign {session_id} Look at the error rate"
        )
    if len(said) > MAX_CHARS:
        raise InputError(
            f"The text has {len(said):,} characters, so nothing was assigned; at most {MAX_CHARS:,}:",
            next_step=f"/triage heartbeat assign {session_id} <text>",
        )
    return said
