"""Sessions and beats in plain words, the same in Slack and on the terminal. Pure; nothing here is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.domain.heartbeats.beat_steps import StepLine, StepMark, steps_of_beat
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Envelope, Indicator
from bot.domain.text.humanize import duration, time_ago, utc_text
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.heartbeat.schedule.beat_log import BeatLog
from bot.heartbeat.schedule.session_controls import SessionRow, SessionStatus

SIGNS: Final = {StepMark.PASSED: "✓", StepMark.NOT_ASKED: "–", StepMark.ENDED: "■"}
"""What stands before a step; the last one is where the beat ended."""

ENDED: Final = {
    BeatResult.SENT: "alert sent",
    BeatResult.OK_TOKEN: "all well",
    BeatResult.OK_EMPTY: "nothing new",
    BeatResult.SKIPPED: "skipped",
    BeatResult.FAILED: "failed",
}
"""How a beat ended, for who does not read the journal."""

REMARKS_SHOWN: Final = 8
NO_BEAT: Final = "has had no beat yet."
NO_SESSIONS: Final = (
    "No sessions are configured. Add one under `sessions:` in triage.yml, then reload or restart triage."
)

STATUS: Final = {Indicator.OK: "ok", Indicator.ALERT: "alert", Indicator.ERROR: "error", Indicator.NONE: "new"}


def status_of(row: SessionRow) -> str:
    """Return one word for how a session stands; one with an open finding is never ok."""
    if row.standing is not SessionStatus.ON:
        return str(row.standing)
    return STATUS[row.indicator] if row.indicator is not None else str(SessionStatus.ON)


def open_findings(row: SessionRow) -> str:
    """Return how many findings of a session are open, the number of pages first.

    `2 open findings, 1 page`
    """
    pages = f", {row.open_pages} page{'s' * (row.open_pages != 1)}" if row.open_pages else ""
    return f"{row.open_findings} open finding{'s' * (row.open_findings != 1)}{pages}"


def describe_session(row: SessionRow, now: datetime) -> tuple[str, ...]:
    """Return what a list says of a session: its settings, how it goes, then what is out of the ordinary."""
    last = f"last beat {time_ago(now, row.last.ts)}: {_ended(row, row.last)}" if row.last else "no beat yet"
    coming = [f"next in {duration(row.next_at - now)}"] if row.next_at else []
    found = [open_findings(row)] if row.open_findings else []
    master = ["master"] if row.is_master else []
    return (
        " · ".join([row.every, row.hours, *master]),
        " · ".join([last, *coming, *found]),
        *map(_flat, row.notes),
    )


def _ended(row: SessionRow, last: Envelope) -> str:
    """Return how the last beat ended; nothing is well while a finding is open."""
    is_well = last.result is BeatResult.OK_TOKEN
    return ENDED[BeatResult.OK_EMPTY] if is_well and row.open_findings else ENDED[last.result]


def beat_line(beat: Envelope, *, may_read: bool) -> str:
    """Return a beat on one line; what it found is for those who may read it."""
    return f"{beat.ts:%d %b %H:%M}  {beat_words(beat, may_read=may_read)}"


def beat_words(beat: Envelope, *, may_read: bool) -> str:
    """Return a beat on one line without its time."""
    beat = beat if may_read else _without_findings(beat)
    said = "; ".join([*_given(beat, 60), *filter(None, [beat.why or beat.error or beat.preview])])
    tier = f" {beat.tier}" if beat.tier else ""
    return f"{beat.reason}{tier}  {beat.result}  {_flat(said)}".rstrip()


def path_lines(beat: Envelope, *, may_read: bool) -> list[str]:
    """Return the way a beat went, a line for each step, aligned."""
    beat = beat if may_read else _without_findings(beat)
    lines = [_line(step) for step in steps_of_beat(beat)]
    preview = _flat(beat.preview)
    said = [f"said: {preview}"] if preview else []
    return [*lines, *(f"  {line}" for line in [*_given(beat, 200), *said])]


def _given(beat: Envelope, chars: int) -> list[str]:
    """Return who gave the beat what to do."""
    return [f"assigned by {one_line(each.by, 40)}: “{one_line(each.text, chars)}”" for each in beat.assignments]


def beside_ok_today(log: BeatLog, session_id: str, now: datetime, zone: str, *, may_read: bool) -> list[str]:
    """Return what a session's beats said with OK since midnight in a zone, as `beside_ok_lines` does."""
    return beside_ok_lines(log.since(session_id, midnight_in(zone, now)), now, zone, may_read=may_read)


def beside_ok_lines(beats: Sequence[Envelope], now: datetime, zone: str, *, may_read: bool) -> list[str]:
    """Return what beats said with OK since midnight in a zone, newest first, under a line that counts them.

    Who may not read what was found gets the count alone. `beats` are those of one session, newest first.
    """
    midnight = midnight_in(zone, now)
    said = [beat for beat in beats if beat.beside_ok and beat.ts >= midnight]
    if not said:
        return []
    count = f"{len(said)} remark{'s' * (len(said) != 1)} with OK since midnight ({zone})"
    if not may_read:
        return [count]
    lines = [f"{beat.ts.astimezone(midnight.tzinfo):%H:%M}  “{_flat(beat.beside_ok)}”" for beat in said[:REMARKS_SHOWN]]
    more = [f"… and {len(said) - REMARKS_SHOWN} more"] if len(said) > REMARKS_SHOWN else []
    return [f"{count}:", *lines, *more]


def midnight_in(zone: str, now: datetime) -> datetime:
    """Return when the day of a moment began in a zone, by its IANA name.

    >>> from datetime import UTC
    >>> midnight_in("Asia/Tokyo", datetime(2026, 3, 1, 16, tzinfo=UTC)).isoformat()
    '2026-03-02T00:00:00+09:00'
    """
    return now.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def _without_findings(beat: Envelope) -> Envelope:
    """Return a beat without its texts: its message, its assignments, why its pre-screen saw nothing to do."""
    is_screened = beat.step is BeatStep.PRESCREEN
    texts = {"preview": "", "assignments": (), "beside_ok": ""}
    return beat.model_copy(update={**texts, "why": str(BeatStep.PRESCREEN) if is_screened else beat.why})


def heading(beat: Envelope) -> str:
    """Return the line above the way a beat went."""
    took = f", {span_ms(beat.duration_ms)}" if beat.result is not BeatResult.SKIPPED else ""
    run = f", run {beat.trace_id}" if beat.trace_id else ""
    return f"{utc_text(beat.ts)}, {beat.reason}: {beat.result}{took}{run}"


def span_ms(duration_ms: int) -> str:
    """Return a duration as people read it.

    >>> span_ms(2140), span_ms(75_000)
    ('2.1 s', '1 min')
    """
    return f"{duration_ms / 1000:.1f} s" if duration_ms < 60_000 else f"{duration_ms // 60_000} min"


def _line(step: StepLine) -> str:
    said = step.detail or ("ok" if step.mark is StepMark.PASSED else str(step.mark))
    return f"{SIGNS[step.mark]} {f'{step.name}:':<12}{_flat(said)}"


def _flat(text: str) -> str:
    """Return foreign words on one line, without what a terminal would obey."""
    return " ".join(strip_hidden(text)[0].split())
