"""Kinds of value that several blocks of triage.yml hold: Slack ids, folders, durations. Only folders are looked up.

Each raises ValueError in words that say what would be right; bot/config/config_errors.py puts the key before them. Each
says with `described_as` what it is in plain words, for docs/configuration.md and for editors (docs/triage.schema.json).
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo, WithJsonSchema

from bot.domain.intervals import parse_interval
from bot.errors import ConfigError


class SettingsBlock(BaseModel):
    """A block of triage.yml; no other key is taken. What a field says of itself stands in docs/configuration.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class InheritedValue:
    """Marks a key of triage.yml that a running bot takes over at SIGHUP; all others wait for a restart."""


def described_as(words: str, pattern: str | None = None, *, null: bool = False) -> WithJsonSchema:
    """Return what a kind of text is called, and the form that JSON Schema can express of it."""
    form = {"type": "string"} if pattern is None else {"type": "string", "pattern": pattern}
    return WithJsonSchema({"title": words, **({"anyOf": [form, {"type": "null"}]} if null else form)})


def _slack_id(prefixes: str, kind: str, where: str) -> BeforeValidator:
    def check(value: object) -> object:
        good = (
            isinstance(value, str) and value[:1] in prefixes and value.isalnum() and value.isupper() and len(value) > 2
        )
        if not good:
            raise ValueError(f"{value!r} is no {kind}; {where}, it looks like {prefixes[0]}0123ABCD")
        return value

    return BeforeValidator(check)


_PROFILE = "copy it from the profile's menu in Slack"
_DETAILS = "copy it from the foot of the channel's details in Slack"

ChannelId = Annotated[
    str, _slack_id("CG", "channel id", _DETAILS), described_as("channel id such as C0123OPS", "^[CG][A-Z0-9]{2,}$")
]
UserId = Annotated[
    str, _slack_id("UW", "user id", _PROFILE), described_as("user id such as U0123ANN", "^[UW][A-Z0-9]{2,}$")
]
ApproverId = Annotated[
    str,
    _slack_id("UWS", "user or user-group id", _PROFILE),
    described_as("user or user-group id such as U0123ANN or S0123ONCALL", "^[UWS][A-Z0-9]{2,}$"),
]
EscalationId = Annotated[
    str,
    _slack_id("UWSCG", "user, user-group or channel id", _PROFILE),
    described_as("user, user-group or channel id such as U0123ANN, S0123ONCALL or C0123WAR", "^[UWSCG][A-Z0-9]{2,}$"),
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


def _existing_folder(path: Path, info: ValidationInfo) -> Path:
    folder = look_up(path, (info.context or {}).get("base", Path()))
    try:
        if folder.is_dir():
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


def _looked_up(path: Path, info: ValidationInfo) -> Path:
    return look_up(path, (info.context or {}).get("base", Path()))


PerhapsFolder = Annotated[
    Path,
    BeforeValidator(_no_problem),
    AfterValidator(_looked_up),
    described_as("path of a folder; a relative one is meant from the file's own"),
]
"""A folder that may be gone for a while; whoever uses it looks."""

PerhapsFile = Annotated[
    Path,
    BeforeValidator(_no_problem),
    AfterValidator(_looked_up),
    described_as("path of a file; a relative one is meant from the folder of triage.yml"),
]
"""A file that may be missing or damaged; whoever reads it has something to fall back to."""


def _interval(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    try:
        return parse_interval(value)  # type: ignore[arg-type]  # it refuses what is no text
    except ConfigError as error:
        raise ValueError(str(error)) from error


INTERVAL_FORM: Final = "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
Interval = Annotated[
    timedelta,
    BeforeValidator(_interval),
    described_as("duration such as 45s, 30m, 1h30m or 2d", INTERVAL_FORM),
]
