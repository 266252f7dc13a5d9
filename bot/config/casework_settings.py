"""The parts of triage.yml about casework: briefs, how long cards wait, proposed notes, long investigations, pages.

Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

from datetime import time, timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from bot.config.field_types import INTERVAL_FORM, EscalationId, Interval, SettingsBlock, described_as
from bot.config.hours_settings import LocalZone
from bot.domain.hours import ActiveHours
from bot.domain.intervals import parse_interval
from bot.domain.paging import AGAIN_AFTER
from bot.errors import ConfigError


def _clock_time(value: object) -> object:
    if value is None or isinstance(value, time):
        return value
    other = "12:00" if value == "00:00" else "00:00"
    try:
        ActiveHours(value, other, "UTC")  # type: ignore[arg-type]  # it refuses what is no text
    except ConfigError as error:
        raise ValueError(error.problems[0].removeprefix("start ")) from error
    return time.fromisoformat(str(value))


ClockTime = Annotated[
    time | None,
    BeforeValidator(_clock_time),
    described_as('time in quotes such as "08:30", or null', "^([01][0-9]|2[0-3]):[0-5][0-9]$", null=True),
]


class BriefSettings(SettingsBlock):
    """What the ops channel is told at fixed times; nothing until a time is given."""

    morning: ClockTime = None
    """When the brief is said; null: never."""
    evening: ClockTime = None
    """When the report of the day is said; null: never."""
    picture: bool = True
    """Whether a picture of the last seven days follows each of them."""
    timezone: LocalZone = "local"
    """Whose clock both times are read on; `local` is the machine's."""


def _interval(value: object) -> object:
    if value is None or isinstance(value, timedelta):
        return value
    try:
        return parse_interval(str(value))
    except ConfigError as error:
        raise ValueError(f"{error}; null switches it off") from error


Patience = Annotated[
    timedelta | None,
    BeforeValidator(_interval),
    described_as("duration such as 45m or 3d, or null", INTERVAL_FORM, null=True),
]
"""How long something may wait; None for ever."""

SaveNotes = Literal["ask", "always", "never"]
"""When a proposed note is saved: by an entry of the card, with every approval of an unedited draft, or not at all."""

REMIND_AFTER = timedelta(hours=4)
EXPIRE_AFTER = timedelta(days=3)
KEEP_RUNS_FOR = timedelta(days=90)


class PageSettings(SettingsBlock):
    """What becomes of a question that pages while nobody acknowledges it; findings: the same keys in `heartbeat`."""

    again_after: Interval | None = AGAIN_AFTER
    """How long after a question that pages nobody acknowledged it rings again, and again; null: never."""
    then: EscalationId | None = None
    """Who is told, once, of one nobody acknowledged for twice as long: a user, a user group, a private channel."""


_Argument = Annotated[str, Field(min_length=1)]


class EscalationSettings(SettingsBlock):
    """Long investigations outside the bot's own process; they need a model."""

    enabled: bool = True
    """false: no long run is ever started, not by the Escalate button either."""
    expected_runtime_min_threshold: Annotated[float, Field(ge=1, le=240)] = 10
    """Minutes a question must be expected to take before it is escalated without a first round."""
    command: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """Another harness, as an argument list with {rubric}, {question_file}, {codebase}, {out}; null: triage itself."""
    time_limit_min: Annotated[float, Field(gt=0, le=240)] = 30
    """Minutes after which a long run is ended; its thread then waits for a human."""
