"""The part of triage.yml about the morning brief and the end-of-day report: when each is said in the ops channel.

Values only; bot/settings.py reads them. Both are off until a time is given.
"""

from __future__ import annotations

from datetime import time
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from bot.domain.hours import ActiveHours
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


def _zone(value: object) -> object:
    if value != "local":
        try:
            ActiveHours("00:00", "24:00", value)  # type: ignore[arg-type]
        except ConfigError as error:
            raise ValueError(f"{error.problems[0].removeprefix('timezone ')}, or local") from error
    return value


ClockTime = Annotated[time | None, BeforeValidator(_clock_time)]


class BriefSettings(BaseModel):
    """What the ops channel is told at fixed times."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    morning: ClockTime = None
    """When the brief is said, such as "08:30"; null: never."""
    evening: ClockTime = None
    """When the report of the day is said, such as "17:30"; null: never."""
    timezone: Annotated[str, BeforeValidator(_zone)] = "local"
    """An IANA name, or `local` for the machine's."""
