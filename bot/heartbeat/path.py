"""The way a beat went, read off its line in heartbeats.ndjson: what it passed, where it ended and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.beats import BeatResult, Delivered, Envelope, Wake
from bot.heartbeat.steps import GATE, Step, screen_failure, step_of


class Mark(StrEnum):
    """What became of a beat at one step."""

    PASSED = "passed"
    NOT_ASKED = "not asked"
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True, slots=True)
class PathLine:
    """One step of the way; `detail` may be empty."""

    name: str
    mark: Mark
    detail: str = ""


NAMES: Final = {
    Step.DISABLED: "enabled",
    Step.HALTED: "triage",
    Step.PAUSED: "pause",
    Step.HOURS: "hours",
    Step.FOLDER: "folder",
    Step.HIDDEN: "visibility",
    Step.ROUTE: "route",
    Step.BUDGET: "budget",
    Step.BUSY: "busy",
    Step.TRACKED: "tracked",
    Step.EMPTY: "empty",
    Step.DUE: "due",
    Step.PROBES: "probes",
    Step.PRESCREEN: "pre-screen",
    Step.RUN: "run",
    Step.ACK: "ack",
    Step.DEDUPE: "dedupe",
    Step.DELIVERY: "delivered",
}
"""The steps as people read them, in order."""

_NOT_ASKED: Final = {
    Step.PAUSED: frozenset({Wake.ON_DEMAND}),
    Step.HOURS: frozenset(Wake) - {Wake.INTERVAL},
    Step.EMPTY: frozenset(Wake) - {Wake.INTERVAL},
}


def path_of(beat: Envelope) -> tuple[PathLine, ...]:
    """Return the steps of one beat up to the one where it ended."""
    end, why = _end(beat)
    steps = list(NAMES)
    passed = [_passed(beat, step) for step in steps[: steps.index(end)]]
    return (*passed, PathLine(name=NAMES[end], mark=Mark.ENDED, detail=why))


def _end(beat: Envelope) -> tuple[Step, str]:
    """Return the step at which a beat ended, and what is to be said of it."""
    step, detail = step_of(beat.why)
    if step is Step.CANCELLED or (beat.result is BeatResult.SKIPPED and step not in NAMES):
        return _furthest(beat), beat.why or "skipped"
    if beat.result is BeatResult.FAILED:
        return _furthest(beat), f"failed: {beat.error or detail or 'no reason was recorded'}"
    if beat.result is BeatResult.SENT:
        return Step.DELIVERY, _place(beat.delivered)
    if step is not None:
        return step, detail or str(step)
    said = "said that all is well" if beat.result is BeatResult.OK_TOKEN else "had nothing to say"
    return Step.ACK, f"{said}{f': {beat.why}' if beat.why else ''}"


def _furthest(beat: Envelope) -> Step:
    """Return how far a beat came that did not end by itself."""
    if beat.usage.input_tokens is not None or beat.tool_calls:
        return Step.RUN
    if beat.prescreen is not None or beat.usage.triage_usage is not None:
        return Step.PRESCREEN
    return Step.PROBES if beat.tier is not None else Step.DUE


def _passed(beat: Envelope, step: Step) -> PathLine:
    if beat.reason in _NOT_ASKED.get(step, ()):
        return PathLine(name=NAMES[step], mark=Mark.NOT_ASKED, detail=f"the wake is {beat.reason}")
    if step in GATE:
        return PathLine(name=NAMES[step], mark=Mark.PASSED)
    if step is Step.PRESCREEN and beat.prescreen is None:
        return PathLine(name=NAMES[step], mark=Mark.NOT_ASKED)
    return PathLine(name=NAMES[step], mark=Mark.PASSED, detail=_detail(beat, step))


def _detail(beat: Envelope, step: Step) -> str:
    match step:
        case Step.DUE:
            return f"{beat.tier} tasks" if beat.tier else ""
        case Step.PRESCREEN:
            failure = screen_failure(beat.why)
            return f"{beat.prescreen}: it failed: {failure}" if failure else str(beat.prescreen)
        case Step.RUN:
            calls = f"{beat.tool_calls} tool call{'s' * (beat.tool_calls != 1)}"
            cost = beat.usage.cost_usd
            return calls if cost is None else f"{calls}, ${cost:.4f}"
        case _:
            return ""


def _place(delivered: Delivered | None) -> str:
    if delivered is None or delivered.mode == "none":
        return "to the log only"
    return f"to {delivered.channel} {delivered.to}".rstrip()
