"""What `heartbeat …` answers, the same in Slack and on the terminal. Who may is asked before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.answers import Answer, Line, Part, lines_of, sentence
from bot.domain.heartbeats.beats import Envelope, Wake
from bot.domain.heartbeats.session_state import ChangedBy
from bot.domain.text.humanize import counted, duration, time_ago
from bot.domain.text.sanitize import one_line
from bot.errors import InputError
from bot.heartbeat.schedule.session_controls import SessionControls, SessionRow, rows
from bot.heartbeat.schedule.session_wording import (
    beat_line,
    ending,
    found_lines,
    heading,
    midnight_in,
    steps_of_beat,
    without_findings,
)
from bot.heartbeat.sessions.owners import OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import BeatLog, SessionMemory, SessionRegistry

LOG_LINES: Final = 20
EARLIER: Final = 4
REMARKS_SHOWN: Final = 8
NO_SESSIONS: Final = (
    "No sessions are configured. Add one under `sessions:` in triage.yml, then reload or restart triage."
)
_CLOSED: Final = "What it found is shown to its owner and to approvers."


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionAnswers:
    """Answers every verb of `heartbeat`."""

    sessions: SessionRegistry
    store: SessionMemory
    zones: OwnerZones
    record: BeatLog
    controls: SessionControls
    inbox: SessionInbox

    def listed(self, now: datetime) -> Answer:
        """Return every session as it stands."""
        return list_answer(rows(self.sessions, self.store, self.zones, self.record, now), now)

    def answer(self, verb: str, session_id: str, words: str, by: ChangedBy, *, may_read: bool = True) -> Answer:
        """Do what a verb says with a session, or tell of it; what was found is for who `may_read`.

        Raises:
            InputError: there is no such session, or `words`, what follows it, cannot be done.
            StoreError: the disk refuses it.
        """
        session = self.sessions.get(session_id)
        match verb:
            case "log":
                return log_answer(session.id, self.record.recent(session.id, LOG_LINES), may_read=may_read)
            case "why":
                zone, beats = self.zones.zone_name(session), self.record.recent(session.id, 1 + EARLIER)
                today = self.record.since(session.id, midnight_in(zone, by.at))
                return why_answer(session.id, beats, remarks(today, zone, by.at, may_read=may_read), may_read=may_read)
            case "assign":
                return sentence(self.inbox.assign(session.id, words, by))
            case "every" if not words:
                raise InputError("How often?", next_step=f"Type /triage heartbeat every {session.id} 15m")
            case "every":
                return self.controls.pace(session.id, "".join(words.split()).lower(), by)
            case "run" | "wake":
                return self.controls.run(session.id, Wake.ON_DEMAND if verb == "run" else Wake.AUTOMATION)
            case _:
                return self.controls.switch(session.id, by, on=verb == "on")


def list_answer(found: Sequence[SessionRow], now: datetime) -> Answer:
    """Return the sessions, a part each, and for programs a record each."""
    if not found:
        return sentence(NO_SESSIONS, data=[])
    parts = tuple(Part(lines=(session_line(row, now),)) for row in found)
    return Answer(parts=parts, following=f"heartbeat why {found[0].id}", data=[row.record() for row in found])


def session_line(row: SessionRow, now: datetime) -> Line:
    """Return a session as it stands: its settings, what its last beat did, what is open and out of the ordinary."""
    name = [row.name] if row.name != row.id else []
    owner = [] if row.owner else ["no owner"]
    last, still = row.last, still_open(row, now)
    did = f"last beat {time_ago(now, last.ts)}: {ending(last, is_open=bool(still))}" if last else "no beat yet"
    coming = [f"next in {duration(row.next_at - now)}"] if row.next_at else []
    return Line(
        mark=row.status,
        name=row.id,
        who=row.owner,
        text=" · ".join([*name, *owner, row.every, row.hours, *(["master"] if row.is_master else [])]),
        more=(" · ".join(filter(None, [did, *coming, still])), *map(one_line, row.notes)),
    )


def still_open(row: SessionRow, now: datetime) -> str:
    """Return how many findings are open and when somebody was told; "" for none.

    `still 2 findings open (1 page), told 40 min ago`
    """
    if not row.open_findings:
        return ""
    still = "still " if row.told_at and row.last and row.told_at < row.last.ts else ""
    pages = f" ({counted(row.open_pages, 'page')})" if row.open_pages else ""
    told = f"told {time_ago(now, row.told_at)}" if row.told_at else "told nobody"
    return f"{still}{counted(row.open_findings, 'finding')} open{pages}, {told}"


def log_answer(session_id: str, beats: Sequence[Envelope], *, may_read: bool) -> Answer:
    """Return the latest beats, newest first, a line each; times are UTC where they cannot be the reader's."""
    if not beats:
        return _no_beat(session_id)
    lines = tuple(beat_line(one, may_read=may_read) for one in beats)
    shown = Part(title=f"{session_id}, latest first", lines=lines)
    return Answer(parts=(shown,), following=f"heartbeat why {session_id}", data=_data(beats))


def why_answer(session_id: str, beats: Sequence[Envelope], beside_ok: Part | None, *, may_read: bool) -> Answer:
    """Return the way of the latest beat step by step, the ones before it, and what was said beside OK."""
    if not beats:
        return _no_beat(session_id)
    latest, *earlier = beats
    latest = latest if may_read else without_findings(latest)
    way = Part(title=f"{session_id}, {heading(latest)}", lines=(*steps_of_beat(latest), *found_lines(latest)))
    before = Part(title="Before it", lines=tuple(beat_line(one, may_read=may_read) for one in earlier))
    parts = [way, *([before] if earlier else []), *([beside_ok] if beside_ok else [])]
    parts += [] if may_read else [Part(lines=lines_of([_CLOSED]))]
    following = f"heartbeat run {session_id}"
    return Answer(parts=tuple(parts), following=following, data=_data(beats))


def remarks(beats: Sequence[Envelope], zone: str, now: datetime, *, may_read: bool) -> Part | None:
    """Return what the beats of a day said beside OK; who may not read what was found gets the count alone."""
    said = [beat for beat in beats if beat.beside_ok]
    if not said:
        return None
    there = midnight_in(zone, now).tzinfo
    lines = [f"{beat.ts.astimezone(there):%H:%M}  “{one_line(beat.beside_ok)}”" for beat in said[:REMARKS_SHOWN]]
    more = [f"… and {len(said) - REMARKS_SHOWN} more"] if len(said) > REMARKS_SHOWN else []
    title = f"{counted(len(said), 'remark')} with OK since midnight ({zone})"
    return Part(title=title, lines=lines_of([*lines, *more] if may_read else []))


def _no_beat(session_id: str) -> Answer:
    return sentence(f"{session_id} has had no beat yet.", f"heartbeat run {session_id}", data=[])


def _data(beats: Sequence[Envelope]) -> list[dict[str, object]]:
    return [beat.model_dump(mode="json") for beat in beats]
