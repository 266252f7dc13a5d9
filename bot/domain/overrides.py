"""What people have switched by command, over what triage.yml says: overrides.json. Pure values."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from bot.domain.intervals import format_interval, parse_interval
from bot.errors import ConfigError


def _interval(value: object) -> object:
    try:
        return value if isinstance(value, timedelta) else parse_interval(value)  # type: ignore[arg-type]
    except ConfigError as error:
        raise ValueError(str(error)) from error


WrittenInterval = Annotated[timedelta, BeforeValidator(_interval), PlainSerializer(format_interval)]
"""A duration that is `15m` on disk."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Setter(_Value):
    """Who set something, and when; `name` is what people read."""

    id: str
    name: str
    at: AwareDatetime


class Switch(_Value):
    """On or off."""

    value: bool
    by: Setter


class Pace(_Value):
    """How often."""

    value: WrittenInterval
    by: Setter


class Override(_Value):
    """What stands over one session's settings; None: triage.yml decides."""

    enabled: Switch | None = None
    every: Pace | None = None
