"""Beats in plain words, as `heartbeat log` and `why` show them: how one ended, and the way it went. Pure.

All is read off the line in heartbeats.ndjson; nothing is escaped. What was found is for those who may read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.domain.answers import Answer, Line, Part, lines_of
from bot.domain.heartbeats.beats import Action, BeatResult, BeatStep, Delivered, Envelope, Indicator
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.text.sanitize import one_line

GATE: Final = tuple(BeatStep)[: list(BeatStep).index(BeatStep.DUE)]
"""The refusals, in the order in which they are asked."""

_ENDS: Final = {BeatStep.PROBES: "Commands", BeatStep.ACK: "Answer", BeatStep.DEDUPE: "Repeats"}
"""The steps at which a beat may end that people read under another name."""

PASSED, ENDED = "✓", "■"
"""What stands before a step; at the last one the beat ended."""

LOG_LINES: Final = 20
EARLIER: Final = 4
REMARKS_SHOWN: Final = 8
CLOSED: Final = Part(lines=lines_of(["What it found is shown to its owner and to approvers."]))
"""What stands in the place of remarks for who may not read them."""

_SAY_ALL: Final = (BeatStep.CANCELLED, BeatStep.DEDUPE, BeatStep.DELIVERY)
"""Ends whose reason `ending` tells."""


def has_run(beat: Envelope) -> bool:
    """Whether a beat began; one that was refused did not, one whose finding nobody was told of did."""
    return beat.result is not BeatResult.SKIPPED or not (beat.step is None or beat.step in GATE)


def ending(beat: Envelope, *, is_open: bool) -> str:
    """Return what a beat did in the end; nothing is well while a finding is open (`is_open`)."""
    match beat.result:
        case BeatResult.FAILED:
            return "failed" if beat.silent else "failed, alert sent"
        case BeatResult.SENT if beat.delivered is None:
            return f"told nobody, {_place(None)}"
        case BeatResult.SENT if beat.step is BeatStep.ACK or beat.indicator is Indicator.OK:
            return "said that nothing is new" if is_open else "said that all is well"
        case BeatResult.SENT:
            return "alert sent"
        case BeatResult.SKIPPED if beat.step is BeatStep.CANCELLED:
            return "cancelled"
        case _ if beat.step is BeatStep.DELIVERY:
            return f"told nobody, {beat.detail or _place(None)}"
        case _ if beat.step is BeatStep.DEDUPE:
            return "nothing new to tell"
        case BeatResult.SKIPPED:
            return "skipped"
    if beat.changes:
        return f"{counted(len(beat.changes), 'change')} for the daily report"
    if beat.prescreen is Action.HANDLE:
        return "handled by the pre-screen"
    return "all well" if beat.result is BeatResult.OK_TOKEN and not is_open else "nothing new"


def steps_of_beat(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat did, as far as its line says, and where it ended; a refused one ended at the gate."""
    if not has_run(beat):
        return (Line(mark=ENDED, name="Gate", text=beat.why or "skipped"),)
    cost = "" if beat.usage.cost_usd is None else f", ${beat.usage.cost_usd:.4f}"
    has_worked = beat.usage.input_tokens is not None or beat.tool_calls
    failed = f": it failed: {beat.screen_error}" if beat.screen_error else ""
    passed = {
        "Gate": "ok",
        "Due": f"{beat.tier} tasks" if beat.tier else "",
        "Pre-screen": f"{beat.prescreen}{failed}" if beat.prescreen else "",
        "Full run": f"{counted(beat.tool_calls, 'tool call')}{cost}" if has_worked else "",
    }
    end, why = _end(beat)
    way = [Line(mark=PASSED, name=name, text=text) for name, text in passed.items() if text and name != end]
    return (*way, Line(mark=ENDED, name=end, text=why))


def _end(beat: Envelope) -> tuple[str, str]:
    """Return the step at which a beat ended, and what is to be said of it."""
    if beat.result is BeatResult.FAILED:
        return "Failed", beat.error or beat.detail or "no reason was recorded"
    if beat.result is BeatResult.SENT:
        return "Delivery", _place(beat.delivered)
    if beat.step is not None:
        return _ENDS.get(beat.step, str(beat.step).capitalize()), beat.detail or str(beat.step)
    said = "reported OK" if beat.result is BeatResult.OK_TOKEN else "reported nothing"
    return "Answer", f"{said}{f': {beat.why}' if beat.why else ''}"


def _place(delivered: Delivered | None) -> str:
    if delivered is None or delivered.mode == "none":
        return "only to the log"
    if delivered.channel == "slack" and (delivered.to or "")[:1] in ("D", "U", "W"):
        return "sent as a direct message in Slack"
    return f"sent to {delivered.channel} {delivered.to or ''}".rstrip()


def beat_line(beat: Envelope) -> Line:
    """Return a beat on one line: why it began, what it did in the end, and what it says."""
    tier = f" {beat.tier}" if beat.tier else ""
    is_told = beat.result is BeatResult.SENT or beat.step in _SAY_ALL
    why = "" if is_told else beat.error or beat.why or ""
    said = [*_given(beat, 60), one_line(why or beat.preview, 200)]
    return Line(at=beat.ts, text=" · ".join(filter(None, [f"{beat.reason}{tier}", _did(beat), *said])))


def found_lines(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat was given, found and said."""
    preview = [f"{'sent' if beat.delivered else 'not sent'}: {beat.preview}"] if beat.preview else []
    return lines_of([*_given(beat, 200), *preview, *(f"changed: {change}" for change in beat.changes)])


def _did(beat: Envelope) -> str:
    return ending(beat, is_open=beat.indicator is Indicator.ALERT)


def _given(beat: Envelope, chars: int) -> list[str]:
    """Return who gave the beat what to do."""
    return [f"assigned by {one_line(each.by, 40)}: “{one_line(each.text, chars)}”" for each in beat.assignments]


def midnight_in(zone: str, now: datetime) -> datetime:
    """Return when the day of a moment began in a zone, by its IANA name.

    >>> from datetime import UTC
    >>> midnight_in("Asia/Tokyo", datetime(2026, 3, 1, 16, tzinfo=UTC)).isoformat()
    '2026-03-02T00:00:00+09:00'
    """
    return now.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def without_findings(beat: Envelope) -> Envelope:
    """Return a beat without its texts: its message, its assignments, what changed, why its pre-screen saw nothing."""
    texts = {"preview": "", "assignments": (), "beside_ok": "", "changes": ()}
    is_screened = beat.prescreen in (Action.NONE, Action.HANDLE) or beat.step is BeatStep.PRESCREEN
    why = str(BeatStep.PRESCREEN) if is_screened else beat.why
    return beat.model_copy(update={**texts, "why": why})


def heading(beat: Envelope) -> str:
    """Return the line above the way a beat went."""
    took = f", {span_ms(beat.duration_ms)}" if has_run(beat) else ""
    run = f", run {beat.trace_id}" if beat.trace_id else ""
    return f"{utc_text(beat.ts)}, {beat.reason}: {_did(beat)}{took}{run}"


def span_ms(duration_ms: int) -> str:
    """Return how long a beat took, as people read it.

    >>> span_ms(2140), span_ms(75_000)
    ('2.1 s', '1 min')
    """
    return f"{duration_ms / 1000:.1f} s" if duration_ms < 60_000 else duration(timedelta(milliseconds=duration_ms))


def log_answer(session_id: str, beats: Sequence[Envelope]) -> Answer:
    """Return beats, newest first, a line each; times are UTC where they cannot be the reader's."""
    shown = Part(title=f"{session_id}, latest first", lines=tuple(map(beat_line, beats)))
    return Answer(parts=(shown,), following=f"heartbeat why {session_id}", data=_data(beats))


def why_answer(session_id: str, beats: Sequence[Envelope], beside: Part) -> Answer:
    """Return the way of the latest beat step by step, the ones before it, and what stands beside them."""
    latest, *earlier = beats
    way = Part(title=f"{session_id}, {heading(latest)}", lines=(*steps_of_beat(latest), *found_lines(latest)))
    before = Part(title="Before it", lines=tuple(map(beat_line, earlier)))
    parts = tuple(part for part in (way, before, beside) if part.lines)
    return Answer(parts=parts, following=f"heartbeat run {session_id}", data=_data(beats))


def remarks(beats: Sequence[Envelope], zone: str) -> Part:
    """Return what the beats of a day said beside OK."""
    said = [beat for beat in beats if beat.beside_ok]
    lines = [f"{beat.ts.astimezone(ZoneInfo(zone)):%H:%M}  “{one_line(beat.beside_ok)}”" for beat in said]
    more = [f"… and {len(said) - REMARKS_SHOWN} more"] if len(said) > REMARKS_SHOWN else []
    title = f"{counted(len(said), 'remark')} with OK since midnight ({zone})"
    return Part(title=title, lines=lines_of([*lines[:REMARKS_SHOWN], *more]))


def _data(beats: Sequence[Envelope]) -> list[dict[str, object]]:
    return [beat.model_dump(mode="json") for beat in beats]
