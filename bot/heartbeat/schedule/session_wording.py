"""Beats in plain words: how one ended, and the way it went, read off its line in heartbeats.ndjson. Pure.

Nothing here is escaped. What was found is for those who may read it; everybody sees how a beat went.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.domain.answers import Line
from bot.domain.heartbeats.beats import Action, BeatResult, BeatStep, Delivered, Envelope, Indicator, Wake
from bot.domain.text.humanize import counted, duration, utc_text
from bot.domain.text.sanitize import one_line

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

GATE: Final = tuple(NAMES)[: list(NAMES).index(BeatStep.DUE)]
"""The refusals, in the order in which they are asked."""

PASSED, NOT_ASKED, ENDED = "✓", "–", "■"
"""What stands before a step; at the last one the beat ended."""

_NOT_ASKED: Final = {
    BeatStep.PAUSED: frozenset({Wake.ON_DEMAND}),
    BeatStep.HOURS: frozenset(Wake) - {Wake.INTERVAL},
    BeatStep.EMPTY: frozenset(Wake) - {Wake.INTERVAL},
}

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
        case BeatResult.SKIPPED if beat.step is BeatStep.DELIVERY:
            return f"told nobody, {beat.detail or _place(None)}"
        case BeatResult.SKIPPED if beat.step is BeatStep.DEDUPE:
            return "nothing new to tell"
        case BeatResult.SKIPPED:
            return "skipped"
    if beat.changes:
        return f"{counted(len(beat.changes), 'change')} for the daily report"
    if beat.prescreen is Action.HANDLE:
        return "handled by the pre-screen"
    return "all well" if beat.result is BeatResult.OK_TOKEN and not is_open else "nothing new"


def steps_of_beat(beat: Envelope) -> tuple[Line, ...]:
    """Return the steps of one beat up to the one where it ended."""
    end, why = _end(beat)
    steps = list(NAMES)
    passed = [_passed(beat, step) for step in steps[: steps.index(end)]]
    return (*passed, Line(mark=ENDED, name=NAMES[end], text=why))


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


def _passed(beat: Envelope, step: BeatStep) -> Line:
    if beat.reason in _NOT_ASKED.get(step, ()):
        return Line(mark=NOT_ASKED, name=NAMES[step], text=f"the wake is {beat.reason}")
    if step is BeatStep.PRESCREEN and beat.prescreen is None:
        return Line(mark=NOT_ASKED, name=NAMES[step], text="not asked")
    return Line(mark=PASSED, name=NAMES[step], text=_detail(beat, step) or "ok")


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


def beat_line(beat: Envelope, *, may_read: bool) -> Line:
    """Return a beat on one line: why it began, what it did in the end, and of that what may be read."""
    beat = beat if may_read else without_findings(beat)
    tier = f" {beat.tier}" if beat.tier else ""
    did = ending(beat, is_open=beat.indicator is Indicator.ALERT)
    is_told = beat.result is BeatResult.SENT or beat.step in _SAY_ALL
    why = "" if is_told else beat.error or beat.why or ""
    said = [*_given(beat, 60), one_line(why or beat.preview, 200)]
    return Line(at=beat.ts, text=" · ".join(filter(None, [f"{beat.reason}{tier}", did, *said])))


def found_lines(beat: Envelope) -> tuple[Line, ...]:
    """Return what a beat was given, found and said, for those who may read it."""
    preview = [f"{'sent' if beat.delivered else 'not sent'}: {beat.preview}"] if beat.preview else []
    changed = [f"changed: {change}" for change in beat.changes]
    return tuple(Line(text=text) for text in [*_given(beat, 200), *preview, *changed])


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
    why = str(BeatStep.PRESCREEN) if beat.step is BeatStep.PRESCREEN else beat.why
    return beat.model_copy(update={**texts, "why": why})


def heading(beat: Envelope) -> str:
    """Return the line above the way a beat went."""
    took = f", {span_ms(beat.duration_ms)}" if has_run(beat) else ""
    run = f", run {beat.trace_id}" if beat.trace_id else ""
    did = ending(beat, is_open=beat.indicator is Indicator.ALERT)
    return f"{utc_text(beat.ts)}, {beat.reason}: {did}{took}{run}"


def span_ms(duration_ms: int) -> str:
    """Return how long a beat took, as people read it.

    >>> span_ms(2140), span_ms(75_000)
    ('2.1 s', '1 min')
    """
    return f"{duration_ms / 1000:.1f} s" if duration_ms < 60_000 else duration(timedelta(milliseconds=duration_ms))
