"""The steps of a beat, in order, and how a remark says at which one it ended. Pure.

Every `why` of heartbeats.ndjson begins with its step: `outside hours: it is 23:10 in Europe/Berlin`. What is refused,
and where, can so be told from the record alone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Step(StrEnum):
    """Where a beat may end; in the order in which it is asked."""

    DISABLED = "disabled"
    HALTED = "triage paused"
    PAUSED = "paused"
    HOURS = "outside hours"
    FOLDER = "no folder"
    HIDDEN = "hidden"
    ROUTE = "no route"
    BUDGET = "budget spent"
    BUSY = "busy"
    TRACKED = "tracked playbook"
    EMPTY = "empty playbook"
    DUE = "due"
    PROBES = "probes"
    PRESCREEN = "pre-screen"
    RUN = "run"
    ACK = "ack"
    DEDUPE = "dedupe"
    DELIVERY = "delivery"
    CANCELLED = "cancelled"


GATE: Final = tuple(Step)[: list(Step).index(Step.DUE)]
"""The refusals of SPEC 5.2, in its order."""


SCREEN_FAILED: Final = "the pre-screen failed: "
"""Begins the last part of a `why`, whatever became of the beat: each such beat costs a full run."""


def screen_failure(why: str | None) -> str:
    """Return why a beat's pre-screen failed, or an empty text.

    >>> screen_failure("dedupe: nothing new; the pre-screen failed: refused: 401"), screen_failure("cancelled")
    ('refused: 401', '')
    """
    return (why or "").partition(SCREEN_FAILED)[2]


def remark(step: Step, detail: str = "") -> str:
    """Return the `why` of an envelope.

    >>> remark(Step.BUDGET, "0.52 of 0.50 USD today"), remark(Step.CANCELLED)
    ('budget spent: 0.52 of 0.50 USD today', 'cancelled')
    """
    return f"{step}: {detail}" if detail else str(step)


def step_of(why: str | None) -> tuple[Step | None, str]:
    """Return the step a remark names and what it says of it; a remark of other words names none.

    >>> step_of("busy: a beat of shop runs")
    (<Step.BUSY: 'busy'>, 'a beat of shop runs')
    """
    name, _, detail = (why or "").partition(": ")
    try:
        return Step(name), detail
    except ValueError:
        return None, why or ""
