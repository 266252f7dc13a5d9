"""Kinds of value that several blocks of triage.yml hold: Slack ids, folders, durations, windows of hours.

Only folders are looked up. Each raises ValueError in words that say what would be right; bot/config/written_keys.py
puts the key before them. Each says with `described_as` what it is in plain words, for docs/configuration.md and for
editors (docs/triage.schema.json).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from bot.domain.hours import ActiveHours, clock_problem, zone_problem
from bot.domain.intervals import WrittenInterval
from bot.errors import ConfigError

_PROFILE = "copy it from the profile's menu in Slack"
_DETAILS = "copy it from the foot of the channel's details in Slack"

INTERVAL_FORM: Final = "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: Final = get_args(Day)


class SettingsBlock(BaseModel):
    """A block of triage.yml; no other key is taken. What a field says of itself stands in docs/configuration.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class InheritedValue:
    """Marks a key of triage.yml that a running bot takes over at SIGHUP; all others wait for a restart."""


def described_as(words: str, pattern: str | None = None) -> WithJsonSchema:
    """Return what a kind of text is called, and the form that JSON Schema can express of it."""
    return WithJsonSchema({"title": words, "type": "string", **({"pattern": pattern} if pattern else {})})


def form(pattern: str, words: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the check of a text and its JSON Schema; `words` are what people call it, with an example."""
    whole = re.compile(pattern)

    def check(value: object) -> object:
        if not (isinstance(value, str) and whole.fullmatch(value)):
            raise ValueError(f"{str(value)[:60]!r} is no {words}")
        return value

    return BeforeValidator(check), described_as(words, f"^(?:{pattern})$")


ChannelId = Annotated[str, *form("[CG][A-Z0-9]{2,}", f"channel id such as C0123ABCD; {_DETAILS}")]
ApproverId = Annotated[str, *form("[UWS][A-Z0-9]{2,}", f"user or user-group id such as U0123ABCD; {_PROFILE}")]
EscalationId = Annotated[
    str, *form("[UWSCG][A-Z0-9]{2,}", f"user, user-group or channel id such as U0123ABCD; {_PROFILE}")
]


def _no_problem(value: object) -> object:
    if isinstance(value, str) and not value.strip(" \t\n^"):
        raise ValueError("is empty")
    return value


Word = Annotated[str, BeforeValidator(_no_problem)]


def look_up(path: Path, base: Path) -> Path:
    """Return where a path of triage.yml leads; a relative one is meant from the file's folder.

    Raises:
        ValueError: nowhere: no such user, a loop of links, too long, a NUL in it.
    """
    try:
        return (base / path.expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{str(path)[:200]!r} cannot be looked up; give the path of a git checkout") from error


def _looked_up(path: Path, info: ValidationInfo) -> Path:
    return look_up(path, (info.context or {}).get("base", Path()))


def _existing_folder(path: Path, info: ValidationInfo) -> Path:
    folder = _looked_up(path, info)
    try:
        if (info.context or {}).get("was_checked") or folder.is_dir():
            return folder
    except OSError as error:
        raise ValueError(f"{str(path)[:200]!r} cannot be looked up; give the path of a git checkout") from error
    raise ValueError(f"{folder} is not a folder; give the path of a git checkout")


Folder = Annotated[
    Path,
    BeforeValidator(_no_problem),
    AfterValidator(_existing_folder),
    described_as("path of an existing folder; a relative one is meant from the file's own"),
]


PerhapsFolder = Annotated[
    Path,
    BeforeValidator(_no_problem),
    AfterValidator(_looked_up),
    described_as("path of a folder; a relative one is meant from the file's own"),
]
"""A folder that may be gone for a while; whoever uses it looks."""


Interval = Annotated[WrittenInterval, described_as("duration such as 45s, 30m, 1h30m or 2d", INTERVAL_FORM)]


PerhapsInterval = Interval | None
"""A duration of something that may also never happen: null."""


def _refused_if(problem_of: Callable[[object], str | None]) -> BeforeValidator:
    def check(value: object) -> object:
        if problem := problem_of(value):
            raise ValueError(problem)
        return value

    return BeforeValidator(check)


def zone_or(*words: str) -> BeforeValidator:
    """Return the check of a zone: an IANA name, or one of the words that stand for a zone."""

    def problem_of(value: object) -> str | None:
        problem = None if value in words else zone_problem(value)
        return ", or ".join([problem, *words]) if problem else None

    return _refused_if(problem_of)


ClockTime = Annotated[
    str,
    _refused_if(clock_problem),
    described_as('time in quotes such as "08:00"', "^([01][0-9]|2[0-3]):[0-5][0-9]$"),
]
WindowEnd = Annotated[
    str,
    _refused_if(clock_problem),
    described_as('time in quotes such as "22:00", up to "24:00"', "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"),
]
LocalZone = Annotated[str, zone_or("local"), described_as("local, or an IANA name such as Europe/Berlin")]


def check_window(start: str, end: str) -> None:
    """Raise ValueError for a window of hours that never begins."""
    try:
        ActiveHours(start, end, "UTC")
    except ConfigError as error:
        raise ValueError(str(error)) from error


class WorkingHoursSettings(SettingsBlock):
    """When people are at work: reminders and scheduled briefs wait for it; cards, alerts and answers do not."""

    start: ClockTime | None = None
    """The first minute of work; without `start` and `end`: any hour."""
    end: WindowEnd | None = None
    """The first minute after it; before `start`, the window goes over midnight."""
    timezone: LocalZone = "local"
    """Whose clock, of these hours and of `brief`; `local` is the machine's."""
    days: Annotated[tuple[Day, ...], Field(min_length=1)] = ("mon", "tue", "wed", "thu", "fri")
    """The days of work."""

    @model_validator(mode="after")
    def _is_a_window(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end belong together; give both, or none for any hour")
        if self.start is not None and self.end is not None:
            check_window(self.start, self.end)
        return self

    def in_zone(self, zone: str) -> ActiveHours | None:
        """Return the window on its days in a zone, None for any hour; raises ConfigError for an unknown zone."""
        if self.start is None or self.end is None:
            return None
        return ActiveHours(self.start, self.end, zone, frozenset(map(DAYS.index, self.days)))
