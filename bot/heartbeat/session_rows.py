"""How sessions stand and how their beats went, for `heartbeat list`, `log`, `why` and App Home. Nothing is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.domain.alerts import Severity
from bot.domain.answers import Answer, Cell, Line, Linked, Part, Table, lines_of, sentence
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Action, BeatResult, BeatStep, Envelope, Indicator
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.hours import ActiveHours
from bot.domain.intervals import format_interval, next_slot, slot_of
from bot.domain.text.humanize import counted, duration, time_ago, utc_text
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError
from bot.heartbeat.session_registry import NO_SESSIONS, BeatLog, Owners, Session, SessionMemory, SessionRegistry


class SessionStatus(StrEnum):
    """How a session stands, in one word; with an open finding it is never ok.

    `new`: it has had no beat yet; `on`: its settings want no more shown (`use_indicator`).
    """

    OFF = "off"
    PAUSED = "paused"
    ON = "on"
    NEW = "new"
    OK = "ok"
    ALERT = "alert"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRow:
    """One session in a list.

    `last` is the last beat that was neither refused nor cancelled; `next_at` when its interval makes a beat next, None
    while it is off or paused; `found` are its open findings.
    """

    session: Session
    status: SessionStatus
    hours: str
    last: Envelope | None
    next_at: datetime | None
    found: tuple[OpenFinding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def pages(self) -> int:
        """How many of the open findings page."""
        return sum(each.severity is Severity.PAGE for each in self.found)

    def cells(self, now: datetime) -> tuple[Cell, ...]:
        """Return its row: how it stands, when it is checked, what its last beat did, and what is open."""
        session, last = self.session, self.last
        every = f"every {format_interval(session.beat.every)}"
        checks = " · ".join(filter(None, [every, self.hours, "master" if session.is_master else ""]))
        did = f"{time_ago(now, last.ts)}: {ending(last)}" if last else "no check yet"
        pages = f" ({counted(self.pages, 'page')})" if self.pages else ""
        is_open = f"{len(self.found)}{pages}" if self.found else ""
        coming = f"in {duration(self.next_at - now)}" if self.next_at else ""
        return session.id, str(self.status), is_open, coming, Linked(did), checks

    def line(self, now: datetime) -> Line:
        """Return its settings, what its last beat did, what is open and out of the ordinary."""
        session, last = self.session, self.last
        name, owner = session.name if session.name != session.id else "", "" if session.owner else "no owner"
        every = f"every {format_interval(session.beat.every)}"
        about = [name, owner, every, self.hours, "suggests shared checks" if session.is_master else ""]
        did = f"last check {time_ago(now, last.ts)}: {ending(last)}" if last else "no check yet"
        coming = f"next in {duration(self.next_at - now)}" if self.next_at else ""
        pages = f" ({counted(self.pages, 'page')})" if self.pages else ""
        is_open = f"{counted(len(self.found), 'finding')} open{pages}" if self.found else ""
        return Line(
            mark=self.status,
            name=session.id,
            who=session.owner,
            text=" · ".join(filter(None, about)),
            more=(" · ".join(filter(None, [did, coming, is_open])), *map(one_line, self.notes)),
        )

    def record(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "id": self.session.id,
            "name": self.session.name,
            "owner": self.session.owner or None,
            "master": self.session.is_master,
            "status": self.status,
            "every": f"every {format_interval(self.session.beat.every)}",
            "hours": self.hours,
            "next_at": self.next_at,
            "open_findings": len(self.found),
            "open_pages": self.pages,
            "notes": self.notes,
            "last": self.last.model_dump(mode="json") if self.last else None,
        }


def rows(
    sessions: SessionRegistry, store: SessionMemory, zones: Owners, record: BeatLog, now: datetime
) -> list[SessionRow]:
    """Return every session as it stands: those with a page first, then in the order of triage.yml."""
    ran = record.latest(lambda beat: has_run(beat) and beat.step is not BeatStep.CANCELLED)

    def row(session: Session) -> SessionRow:
        state, unread = SessionState(), ""
        try:
            state = store.load(session.id)
        except StoreError as error:
            unread = f"no heartbeats: {error}"
        hours, last, is_paused = zones.hours(session), ran.get(session.id), bool(state.failures.pause_at(now))
        found = tuple(finding for finding in state.findings.values() if finding.is_open)
        return SessionRow(
            session=session,
            status=_status(session, last, is_paused=is_paused, is_open=bool(found)),
            hours=f"{hours.start}-{hours.end} {hours.timezone}",
            last=last,
            next_at=next_beat(session, hours, now) if session.beat.enabled and not is_paused else None,
            found=found,
            notes=tuple(filter(None, [unread, *_notes(session, state, last, is_paused=is_paused)])),
        )

    return sorted(map(row, sessions.all()), key=lambda each: each.pages == 0)


def list_answer(found: Sequence[SessionRow], now: datetime) -> Answer:
    """Return the sessions, a row each, what is out of the ordinary below, and for programs a record each."""
    if not found:
        return sentence(NO_SESSIONS, data=[])
    head = ("Name", "Stands", "Open", "Next", "Last", "Checks")
    notes = tuple(Line(name=row.session.id, text="; ".join(map(one_line, row.notes))) for row in found if row.notes)
    sessions = Part(table=Table(head=head, rows=tuple(row.cells(now) for row in found)))
    parts = (sessions, *([Part(lines=notes)] if notes else []))
    return Answer(parts=parts, following=f"heartbeat why {found[0].session.id}", data=[row.record() for row in found])


def _status(session: Session, last: Envelope | None, *, is_paused: bool, is_open: bool) -> SessionStatus:
    """Return how a session stands; findings are opened and closed between beats, too."""
    standing = (
        (not session.beat.enabled, SessionStatus.OFF),
        (is_paused, SessionStatus.PAUSED),
        (not session.beat.visibility.use_indicator, SessionStatus.ON),
        (last is not None and last.result is BeatResult.FAILED, SessionStatus.ERROR),
        (is_open, SessionStatus.ALERT),
        (last is not None, SessionStatus.OK),
    )
    return next((status for holds, status in standing if holds), SessionStatus.NEW)


def _notes(session: Session, state: SessionState, last: Envelope | None, *, is_paused: bool) -> Iterator[str]:
    """Yield what is out of the ordinary: why it pauses, what its pre-screen costs, who switched it."""
    if is_paused:
        yield f"paused after {state.failures.count} failures: {state.failures.key}"
    if last and last.screen_error:
        yield f"its pre-screen fails, so every check costs a full run: {last.screen_error}"
    for key, override in session.override:
        if override:
            says = session.configured.model_dump(mode="json", include={key})[key]
            yield f"`{key}` was set by @{override.by.name} on {utc_text(override.by.at)}; triage.yml says {says}"


def next_beat(session: Session, hours: ActiveHours, now: datetime) -> datetime:
    """Return when the session's interval makes a beat next: at a slot inside the hours, or as they open."""
    name, every = session.id, session.beat.every
    upcoming = next_slot(name, every, now)
    if hours.contains(upcoming):
        return upcoming
    is_made_up = not (hours.contains(now) or hours.contains(slot_of(name, every, now)))
    opening = hours.next_opening(now if is_made_up else upcoming)
    following = next_slot(name, every, opening - timedelta(microseconds=1))
    return following if hours.contains(following) else opening


GATE: Final = tuple(BeatStep)[: list(BeatStep).index(BeatStep.DUE)]
"""The refusals, in the order in which they are asked."""

PASSED, ENDED = "✓", "■"
"""What stands before a step; at the last one the beat ended."""

LOOKED_AT: Final = 50
"""How many beats `log` and `why` read; about a day of a session that beats every half hour."""

LOG_LINES: Final = 20
REMARKS_SHOWN: Final = 8
SAID_CHARS: Final = 200

_UNTOLD: Final = {BeatStep.DEDUPE: "nothing new to tell", BeatStep.DELIVERY: "told nobody"}
"""What was found, and nobody heard of; a beat that was skipped at any other step is called like the step."""


def has_run(beat: Envelope) -> bool:
    """Whether a beat began; one that was refused did not, one whose finding nobody was told of did."""
    return beat.result is not BeatResult.SKIPPED or not (beat.step is None or beat.step in GATE)


def ending(beat: Envelope) -> str:
    """Return what a beat did in the end; never that all is well, for a finding may be open."""
    if beat.result is BeatResult.FAILED:
        return "failed" if beat.silent else "failed, alert sent"
    if beat.result is BeatResult.SENT:
        says_ok = beat.step is BeatStep.ACK or beat.indicator is Indicator.OK
        return "said that nothing is new" if says_ok else "alert sent"
    if beat.result is BeatResult.SKIPPED:
        return _UNTOLD.get(beat.step, str(beat.step)) if beat.step else "skipped"
    if beat.changes:
        return f"{counted(len(beat.changes), 'change')} for the daily report"
    return "handled by the pre-screen" if beat.prescreen is Action.HANDLE else "nothing new"


def steps_of_beat(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat did, as far as its line says, and how it ended."""
    cost = "" if beat.usage.cost_usd is None else f", ${beat.usage.cost_usd:.4f}"
    has_worked = beat.usage.input_tokens is not None or beat.tool_calls
    passed = {
        "Gate": "ok" if has_run(beat) else "",
        "Due": f"{beat.tier} tasks" if beat.tier else "",
        "Pre-screen": beat.prescreen or "",
        "Full run": f"{counted(beat.tool_calls, 'tool call')}{cost}" if has_worked else "",
    }
    way = [Line(mark=PASSED, name=name, text=text) for name, text in passed.items() if text]
    to = f"to {beat.delivered.destination}" if beat.delivered else ""
    return (*way, Line(mark=ENDED, name="End", text=": ".join(filter(None, [_outcome(beat), to]))))


def _outcome(beat: Envelope) -> str:
    """Return how a beat ended, and why."""
    return ": ".join(filter(None, [ending(beat), beat.error or beat.detail]))


def beat_line(beat: Envelope) -> Line:
    """Return a beat on one line: why it began, what it did in the end, and what it says."""
    began = f"{beat.reason} {beat.tier or ''}".rstrip()
    said = [began, _outcome(beat), *_given(beat), beat.preview]
    return Line(at=beat.ts, text=" · ".join(one_line(text, SAID_CHARS) for text in said if text))


def found_lines(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat was given, found and said."""
    preview = [f"{'sent' if beat.delivered else 'not sent'}: {beat.preview}"] if beat.preview else []
    return lines_of([*_given(beat), *preview, *(f"changed: {change}" for change in beat.changes)])


def _given(beat: Envelope) -> list[str]:
    """Return who gave the beat what to do."""
    return [f"assigned by {one_line(each.by, 40)}: “{one_line(each.text)}”" for each in beat.assignments]


def without_findings(beat: Envelope) -> Envelope:
    """Return a beat without its texts; of one that ran, its step says where it ended."""
    texts = {"preview": "", "assignments": (), "beside_ok": "", "changes": ()}
    why = (beat.step and str(beat.step)) if has_run(beat) else beat.why
    return beat.model_copy(update={**texts, "why": why})


def heading(beat: Envelope) -> str:
    """Return the line above the way a beat went."""
    took = f", {duration(timedelta(milliseconds=beat.duration_ms))}" if has_run(beat) else ""
    run = f", run {beat.trace_id}" if beat.trace_id else ""
    return f"{utc_text(beat.ts)}, {beat.reason}{took}{run}"


def log_answer(session_id: str, beats: Sequence[Envelope]) -> Answer:
    """Return beats, newest first, a line each; times are UTC where they cannot be the reader's."""
    shown = Part(title=f"{session_id}, latest first", lines=tuple(map(beat_line, beats[:LOG_LINES])))
    data = [beat.model_dump(mode="json") for beat in beats[:LOG_LINES]]
    return Answer(parts=(shown,), following=f"heartbeat why {session_id}", data=data)


def why_answer(session_id: str, beats: Sequence[Envelope]) -> Answer:
    """Return the way of the latest beat step by step, and what beats said beside OK."""
    latest = beats[0]
    way = Part(title=f"{session_id}, {heading(latest)}", lines=(*steps_of_beat(latest), *found_lines(latest)))
    remarks = tuple(Line(at=beat.ts, text=f"“{one_line(beat.beside_ok)}”") for beat in beats if beat.beside_ok)
    beside = [Part(title="Said beside OK", lines=remarks[:REMARKS_SHOWN])] if remarks else []
    following, data = f"heartbeat run {session_id}", [latest.model_dump(mode="json")]
    return Answer(parts=(way, *beside), following=following, data=data)
