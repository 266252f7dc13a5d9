"""The part of triage.yml about the morning brief and the end-of-day report: when each is said in the ops channel.

Values only; bot/settings.py reads them. Both are off until a time is given.
"""

from __future__ import annotations

from datetime import time
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.hours_settings import LocalZone
from bot.setting_types import reads


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
    reads('time in quotes such as "08:30", or null', "^([01][0-9]|2[0-3]):[0-5][0-9]$", null=True),
]


class BriefSettings(BaseModel):
    """What the ops channel is told at fixed times; nothing until a time is given."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    morning: ClockTime = None
    """When the brief is said; null: never."""
    evening: ClockTime = None
    """When the report of the day is said; null: never."""
    picture: bool = True
    """Whether a picture of the last seven days follows each of them."""
    timezone: LocalZone = "local"
    """Whose clock both times are read on; `local` is the machine's."""
