"""Beats in plain words, as `heartbeat log` and `why` show them: how one ended, and the way it went. Pure.

All is read off the line in heartbeats.ndjson; nothing is escaped. What was found is for those who may read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from bot.domain.answers import Answer, Line, Part, lines_of
from bot.domain.heartbeats.beats import Action, BeatResult, BeatStep, Envelope, Indicator
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.text.sanitize import one_line

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
