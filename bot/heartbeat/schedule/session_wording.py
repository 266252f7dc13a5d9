"""Beats in plain words, as `heartbeat log` and `why` show them: how one ended, and the way it went. Pure.

All is read off the line in heartbeats.ndjson; nothing is escaped. What was found is for those who may read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

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

LOOKED_AT: Final = 50
"""How many beats `log` and `why` read; about a day of a session that beats every half hour."""

LOG_LINES: Final = 20
EARLIER: Final = 4
REMARKS_SHOWN: Final = 8
NOT_FOR_ALL: Final = "What it found is shown to its owner and to approvers."

_SAY_ALL: Final = (BeatStep.CANCELLED, BeatStep.DEDUPE, BeatStep.DELIVERY)
"""Ends whose reason `ending` tells."""


def has_run(beat: Envelope) -> bool:
    """Whether a beat began; one that was refused did not, one whose finding nobody was told of did."""
    return beat.result is not BeatResult.SKIPPED or not (beat.step is None or beat.step in GATE)


def ending(beat: Envelope) -> str:
    """Return what a beat did in the end; never that all is well, for a finding may be open."""
    if beat.result is BeatResult.FAILED:
        return "failed" if beat.silent else "failed, alert sent"
    match beat.step:
        case BeatStep.CANCELLED:
            return "cancelled"
        case BeatStep.DELIVERY:
            return f"told nobody, {beat.detail or _place(None)}"
        case BeatStep.DEDUPE:
            return "nothing new to tell"
    if beat.result is BeatResult.SENT:
        says_ok = beat.step is BeatStep.ACK or beat.indicator is Indicator.OK
        return "said that nothing is new" if says_ok else "alert sent"
    if beat.result is BeatResult.SKIPPED:
        return "skipped"
    if beat.changes:
        return f"{counted(len(beat.changes), 'change')} for the daily report"
    return "handled by the pre-screen" if beat.prescreen is Action.HANDLE else "nothing new"


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
    if delivered is None:
        return "sent"
    if delivered.channel == "slack" and (delivered.to or "")[:1] in ("D", "U", "W"):
        return "sent as a direct message in Slack"
    return f"sent to {delivered.channel} {delivered.to or ''}".rstrip()


def beat_line(beat: Envelope) -> Line:
    """Return a beat on one line: why it began, what it did in the end, and what it says."""
    tier = f" {beat.tier}" if beat.tier else ""
    is_told = beat.result is BeatResult.SENT or beat.step in _SAY_ALL
    why = "" if is_told else beat.error or beat.why or ""
    said = [*_given(beat, 60), one_line(why or beat.preview, 200)]
    return Line(at=beat.ts, text=" · ".join(filter(None, [f"{beat.reason}{tier}", ending(beat), *said])))


def found_lines(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat was given, found and said."""
    preview = [f"{'sent' if beat.delivered else 'not sent'}: {beat.preview}"] if beat.preview else []
    return lines_of([*_given(beat, 200), *preview, *(f"changed: {change}" for change in beat.changes)])


def _given(beat: Envelope, chars: int) -> list[str]:
    """Return who gave the beat what to do."""
    return [f"assigned by {one_line(each.by, 40)}: “{one_line(each.text, chars)}”" for each in beat.assignments]


def without_findings(beat: Envelope) -> Envelope:
    """Return a beat without its texts: its message, its assignments, what changed, why its pre-screen saw nothing."""
    texts = {"preview": "", "assignments": (), "beside_ok": "", "changes": ()}
    is_screened = beat.prescreen in (Action.NONE, Action.HANDLE) or beat.step is BeatStep.PRESCREEN
    why = str(BeatStep.PRESCREEN) if is_screened else beat.why
    return beat.model_copy(update={**texts, "why": why})


def heading(beat: Envelope) -> str:
    """Return the line above the way a beat went."""
    took = f", {duration(timedelta(milliseconds=beat.duration_ms))}" if has_run(beat) else ""
    run = f", run {beat.trace_id}" if beat.trace_id else ""
    return f"{utc_text(beat.ts)}, {beat.reason}: {ending(beat)}{took}{run}"


def log_answer(session_id: str, beats: Sequence[Envelope]) -> Answer:
    """Return beats, newest first, a line each; times are UTC where they cannot be the reader's."""
    newest = beats[:LOG_LINES]
    shown = Part(title=f"{session_id}, latest first", lines=tuple(map(beat_line, newest)))
    return Answer(parts=(shown,), following=f"heartbeat why {session_id}", data=_data(newest))


def why_answer(session_id: str, beats: Sequence[Envelope], *, is_reader: bool) -> Answer:
    """Return the way of the latest beat step by step, the ones before it, and what beats said beside OK.

    `is_reader`: whoever asks may read what a beat found.
    """
    latest, *earlier = beats[: 1 + EARLIER]
    remarks = [Line(at=beat.ts, text=f"“{one_line(beat.beside_ok)}”") for beat in beats if beat.beside_ok]
    beside = Part(title="Said beside OK", lines=tuple(remarks[:REMARKS_SHOWN])) if remarks else Part()
    if not is_reader:
        beside = Part(lines=lines_of([NOT_FOR_ALL]))
    way = Part(title=f"{session_id}, {heading(latest)}", lines=(*steps_of_beat(latest), *found_lines(latest)))
    before = Part(title="Before it", lines=tuple(map(beat_line, earlier)))
    parts = tuple(part for part in (way, before, beside) if part.lines)
    return Answer(parts=parts, following=f"heartbeat run {session_id}", data=_data(beats[: 1 + EARLIER]))


def _data(beats: Sequence[Envelope]) -> list[dict[str, object]]:
    return [beat.model_dump(mode="json") for beat in beats]
