"""The part of triage.yml about when people are at work, and the kinds of value every window of hours is made of.

Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from bot.config.field_types import SettingsBlock, described_as
from bot.domain.hours import ActiveHours
from bot.errors import ConfigError

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: Final = get_args(Day)


def _clock(name: Literal["start", "end"]) -> BeforeValidator:
    """Check one end of the window alone, so that the problem names its key."""

    def check(value: object) -> object:
        other = "12:00" if value == "00:00" else "00:00"
        try:
            ActiveHours(**{"start": other, "end": "24:00", name: value, "timezone": "UTC"})  # type: ignore[arg-type]
        except ConfigError as error:
            raise ValueError(error.problems[0].removeprefix(f"{name} ")) from error
        return value

    return BeforeValidator(check)


def zone_or(*words: str) -> BeforeValidator:
    """Return the check of a zone: an IANA name, or one of the words that stand for a zone."""

    def check(value: object) -> object:
        if value not in words:
            try:
                ActiveHours("00:00", "24:00", value)  # type: ignore[arg-type]  # it refuses what is no text
            except ConfigError as error:
                problem = error.problems[0].removeprefix("timezone ")
                raise ValueError(", or ".join([problem, *words])) from error
        return value

    return BeforeValidator(check)


WindowStart = Annotated[
    str, _clock("start"), described_as('time in quotes such as "08:00"', "^([01][0-9]|2[0-3]):[0-5][0-9]$")
]
WindowEnd = Annotated[
    str,
    _clock("end"),
    described_as('time in quotes such as "22:00", up to "24:00"', "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"),
]
LocalZone = Annotated[str, zone_or("local"), described_as("local, or an IANA name such as Europe/Berlin")]


class HoursWindow(SettingsBlock):
    """A window of hours, each day the same; the blocks of triage.yml say whose clock it goes by."""

    start: WindowStart
    end: WindowEnd

    @model_validator(mode="after")
    def _is_a_window(self) -> Self:
        try:
            self.in_zone("UTC")
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return self

    def in_zone(self, zone: str) -> ActiveHours:
        """Return the window in a zone; raises ConfigError for one that does not exist."""
        return ActiveHours(self.start, self.end, zone)


class WorkingHoursSettings(HoursWindow):
    """When people are at work: outside it no reminder of a waiting card and no scheduled brief is said.

    What falls outside is said once, at the next start. Cards, alerts and what somebody asks for know no hours.
    """

    start: WindowStart
    """The first minute of work."""
    end: WindowEnd
    """The first minute after it; before `start`, the window goes over midnight and belongs to the day it began on."""
    timezone: LocalZone = "local"
    """Whose clock; `local` is the machine's."""
    days: Annotated[tuple[Day, ...], Field(min_length=1)] = ("mon", "tue", "wed", "thu", "fri")
    """The days of work."""

    def in_zone(self, zone: str) -> ActiveHours:
        """Return the window on its days in a zone; raises ConfigError for one that does not exist."""
        return ActiveHours(self.start, self.end, zone, frozenset(map(DAYS.index, self.days)))
