"""Sessions and beats in plain words, the same in Slack and on the terminal. Pure; nothing here is escaped.

The way a beat went is read off its line in heartbeats.ndjson: what it passed, where it ended and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from bot.domain.heartbeats.beats import BeatResult, BeatStep, Delivered, Envelope, Indicator, Wake
from bot.domain.text.humanize import counted, duration, time_ago, utc_text
from bot.domain.text.sanitize import one_line
from bot.heartbeat.schedule.session_controls import SessionRow, SessionStatus
from bot.heartbeat.sessions.session_registry import BeatLog

GATE: Final = tuple(BeatStep)[: list(BeatStep).index(BeatStep.DUE)]
"""The refusals of SPEC 5.2, in its order."""

NAMES: Final = {
    BeatStep.DISABLED: "Switch",
    BeatStep.HALTED: "Pause",
    BeatStep.PAUSED: "Failures",
    BeatStep.HOURS: "Hours",
    BeatStep.FOLDER: "Folder",
    BeatStep.HIDDEN: "Visibility",
    BeatStep.ROUTE: "Recipient",
    BeatStep.BUDGET: "Budget",
    BeatStep.BUSY: "Other beat",
    BeatStep.TRACKED: "Git",
    BeatStep.EMPTY: "Tasks",
    BeatStep.DUE: "Due",
    BeatStep.PROBES: "Commands",
    BeatStep.PRESCREEN: "Pre-screen",
    BeatStep.RUN: "Full run",
    BeatStep.ACK: "Answer",
    BeatStep.DEDUPE: "Repeats",
    BeatStep.DELIVERY: "Delivery",
}
"""The steps as people read them, in order."""

_NOT_ASKED: Final = {
    BeatStep.PAUSED: frozenset({Wake.ON_DEMAND}),
    BeatStep.HOURS: frozenset(Wake) - {Wake.INTERVAL},
    BeatStep.EMPTY: frozenset(Wake) - {Wake.INTERVAL},
}

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


class StepMark(StrEnum):
    """What became of a beat at one step."""

    PASSED = "passed"
    NOT_ASKED = "not checked"
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True, slots=True)
class StepLine:
    """One step of the way; `detail` may be empty."""

    name: str
    mark: StepMark
    detail: str = ""


def steps_of_beat(beat: Envelope) -> tuple[StepLine, ...]:
    """Return the steps of one beat up to the one where it ended."""
    end, why = _end(beat)
    steps = list(NAMES)
    passed = [_passed(beat, step) for step in steps[: steps.index(end)]]
    return (*passed, StepLine(name=NAMES[end], mark=StepMark.ENDED, detail=why))


def _end(beat: Envelope) -> tuple[BeatStep, str]:
    """Return the step at which a beat ended, and what is to be said of it."""
    step, detail = beat.step, beat.detail
    if step is BeatStep.CANCELLED or (beat.result is BeatResult.SKIPPED and step not in NAMES):
        return _furthest(beat), beat.why or "skipped"
    if beat.result is BeatResult.FAILED:
        return _furthest(beat), f"failed: {beat.error or detail or 'no reason was recorded'}"
    if beat.result is BeatResult.SENT:
        return BeatStep.DELIVERY, _place(beat.delivered)
    if step is not None:
        return step, detail or str(step)
    said = "reported OK" if beat.result is BeatResult.OK_TOKEN else "reported nothing"
    return BeatStep.ACK, f"{said}{f': {beat.why}' if beat.why else ''}"


def _furthest(beat: Envelope) -> BeatStep:
    """Return how far a beat came that did not end by itself."""
    if beat.usage.input_tokens is not None or beat.tool_calls:
        return BeatStep.RUN
    if beat.prescreen is not None or beat.usage.triage_usage is not None:
        return BeatStep.PRESCREEN
    return BeatStep.PROBES if beat.tier is not None else BeatStep.DUE


def _passed(beat: Envelope, step: BeatStep) -> StepLine:
    if beat.reason in _NOT_ASKED.get(step, ()):
        return StepLine(name=NAMES[step], mark=StepMark.NOT_ASKED, detail=f"the wake is {beat.reason}")
    if step in GATE:
        return StepLine(name=NAMES[step], mark=StepMark.PASSED)
    if step is BeatStep.PRESCREEN and beat.prescreen is None:
        return StepLine(name=NAMES[step], mark=StepMark.NOT_ASKED)
    return StepLine(name=NAMES[step], mark=StepMark.PASSED, detail=_detail(beat, step))


def _detail(beat: Envelope, step: BeatStep) -> str:
    match step:
        case BeatStep.DUE:
            return f"{beat.tier} tasks" if beat.tier else ""
        case BeatStep.PRESCREEN:
            return f"{beat.prescreen}: it failed: {beat.screen_error}" if beat.screen_error else str(beat.prescreen)
        case BeatStep.RUN:
            calls = counted(beat.tool_calls, "tool call")
            cost = beat.usage.cost_usd
            return calls if cost is None else f"{calls}, ${cost:.4f}"
        case _:
            return ""


def _place(delivered: Delivered | None) -> str:
    if delivered is None or delivered.mode == "none":
        return "only to the log"
    if delivered.channel == "slack" and (delivered.to or "")[:1] in ("D", "U", "W"):
        return "sent as a direct message in Slack"
    return f"sent to {delivered.channel} {delivered.to or ''}".rstrip()


SIGNS: Final = {StepMark.PASSED: "✓", StepMark.NOT_ASKED: "–", StepMark.ENDED: "■"}
"""What stands before a step; the last one is where the beat ended."""


def status_of(row: SessionRow) -> str:
    """Return one word for how a session stands; one with an open finding is never ok."""
    if row.standing is not SessionStatus.ON:
        return str(row.standing)
    return STATUS[row.indicator] if row.indicator is not None else str(SessionStatus.ON)


def open_findings(row: SessionRow) -> str:
    """Return how many findings of a session are open, the number of pages first.

    `2 open findings, 1 page`
    """
    pages = f", {counted(row.open_pages, 'page')}" if row.open_pages else ""
    return f"{counted(row.open_findings, 'open finding')}{pages}"


def describe_session(row: SessionRow, now: datetime) -> tuple[str, ...]:
    """Return what a list says of a session: its settings, how it goes, then what is out of the ordinary."""
    last = f"last beat {time_ago(now, row.last.ts)}: {_ended(row, row.last)}" if row.last else "no beat yet"
    coming = [f"next in {duration(row.next_at - now)}"] if row.next_at else []
    found = [open_findings(row)] if row.open_findings else []
    master = ["master"] if row.is_master else []
    return (
        " · ".join([row.every, row.hours, *master]),
        " · ".join([last, *coming, *found]),
        *map(one_line, row.notes),
    )


def _ended(row: SessionRow, last: Envelope) -> str:
    """Return how the last beat ended; nothing is well while a finding is open."""
    is_well = last.result is BeatResult.OK_TOKEN
    return ENDED[BeatResult.OK_EMPTY] if is_well and row.open_findings else ENDED[last.result]


def beat_words(beat: Envelope, *, may_read: bool) -> str:
    """Return a beat on one line without its time; what it found is for those who may read it."""
    beat = beat if may_read else _without_findings(beat)
    said = "; ".join([*_given(beat, 60), *filter(None, [beat.why or beat.error or beat.preview])])
    tier = f" {beat.tier}" if beat.tier else ""
    return f"{beat.reason}{tier}  {beat.result}  {one_line(said)}".rstrip()


def path_lines(beat: Envelope, *, may_read: bool) -> list[str]:
    """Return the way a beat went, a line for each step, aligned."""
    beat = beat if may_read else _without_findings(beat)
    lines = [_line(step) for step in steps_of_beat(beat)]
    preview = one_line(beat.preview)
    said = [f"{'sent' if beat.delivered else 'not sent'}: {preview}"] if preview else []
    return [*lines, *(f"  {line}" for line in [*_given(beat, 200), *said])]


def _given(beat: Envelope, chars: int) -> list[str]:
    """Return who gave the beat what to do."""
    return [f"assigned by {one_line(each.by, 40)}: “{one_line(each.text, chars)}”" for each in beat.assignments]


def beside_ok_today(log: BeatLog, session_id: str, now: datetime, zone: str, *, may_read: bool) -> list[str]:
    """Return what a session's beats said with OK since midnight in a zone, newest first, under a line that counts them.

    Who may not read what was found gets the count alone.
    """
    midnight = midnight_in(zone, now)
    said = [beat for beat in log.since(session_id, midnight) if beat.beside_ok]
    if not said:
        return []
    count = f"{counted(len(said), 'remark')} with OK since midnight ({zone})"
    if not may_read:
        return [count]
    lines = [
        f"{beat.ts.astimezone(midnight.tzinfo):%H:%M}  “{one_line(beat.beside_ok)}”" for beat in said[:REMARKS_SHOWN]
    ]
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
    return f"{SIGNS[step.mark]} {f'{step.name}:':<12}{one_line(said)}"
