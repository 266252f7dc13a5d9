"""The way a beat went, read off its line in heartbeats.ndjson: what it passed, where it ended and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.heartbeats.beats import BeatResult, BeatStep, Delivered, Envelope, Wake

GATE: Final = tuple(BeatStep)[: list(BeatStep).index(BeatStep.DUE)]
"""The refusals of SPEC 5.2, in its order."""


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
            calls = f"{beat.tool_calls} tool call{'s' * (beat.tool_calls != 1)}"
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
