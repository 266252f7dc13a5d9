"""Kinds of value that several blocks of triage.yml hold: Slack ids, folders, durations. Only folders are looked up.

Each raises ValueError in words that say what would be right; bot/setting_problems.py puts the key before them.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from bot.domain.intervals import parse_interval
from bot.errors import ConfigError


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

ChannelId = Annotated[str, _slack_id("CG", "channel id", _DETAILS)]
UserId = Annotated[str, _slack_id("UW", "user id", _PROFILE)]
ApproverId = Annotated[str, _slack_id("UWS", "user or user-group id", _PROFILE)]


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
    raise ValueError(f"{folder} is no folder; give the path of a git checkout")


Folder = Annotated[Path, BeforeValidator(_no_problem), AfterValidator(_existing_folder)]


def _interval(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    try:
        return parse_interval(value)  # type: ignore[arg-type]  # it refuses what is no text
    except ConfigError as error:
        raise ValueError(str(error)) from error


Interval = Annotated[timedelta, BeforeValidator(_interval)]
