"""The part of triage.yml called `heartbeat`: how beats run, for all sessions or for one. Values only."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.domain.command_templates import parse_template
from bot.domain.default_commands import DEFAULT_COMMANDS
from bot.errors import ConfigError
from bot.heartbeat_blocks import DeliverSettings, HoursSettings, VisibilitySettings
from bot.model_settings import DEFAULT_MODEL, MODEL_ID, Usd
from bot.setting_types import Interval

LONGEST_INTERVAL: Final = timedelta(days=366)

_TOKEN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,39}")


def _command(value: object) -> object:
    try:
        return parse_template(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error


Command = Annotated[tuple[str, ...], BeforeValidator(_command)]


def _not_for_ever(interval: timedelta) -> timedelta:
    if interval > LONGEST_INTERVAL:
        raise ValueError(f"must be at most {LONGEST_INTERVAL.days}d; to switch beats off write enabled: false")
    return interval


def _model(name: str) -> str:
    if not MODEL_ID.fullmatch(name):
        raise ValueError(f"{name[:60]!r} is no model's id; it looks like {DEFAULT_MODEL}")
    return name


def _model_or_none(name: str) -> str:
    return _model(name) if name else name


def _token(word: str) -> str:
    if not _TOKEN.fullmatch(word):
        raise ValueError(f"{word[:60]!r} is no single word of letters, digits, - and _; it looks like HEARTBEAT_OK")
    return word


class BeatSettings(BaseModel):
    """How a session's beats run; in `heartbeat` for all sessions, in a session's own block for it alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    every: Annotated[Interval, AfterValidator(_not_for_ever)] = timedelta(minutes=30)
    active_hours: HoursSettings = HoursSettings()
    prompt: str = ""
    """Words of the team's for the model; what is checked stands in HEARTBEAT.md."""
    ack_token: Annotated[str, AfterValidator(_token)] = "HEARTBEAT_OK"  # noqa: S105 - a word
    """What the model says when all is well."""
    ack_max_chars: Annotated[int, Field(ge=0, le=10_000)] = 300
    """What follows the token up to this length is logged and not sent."""
    include_reasoning: bool = False
    dedupe_window: Interval = timedelta(hours=24)
    heartbeat_model: Annotated[str, AfterValidator(_model_or_none)] = ""
    """The cheap model that looks first; "" switches that look off, in a session even where the global block has one."""
    model: Annotated[str, AfterValidator(_model)] = DEFAULT_MODEL
    deliver: DeliverSettings = DeliverSettings()
    visibility: VisibilitySettings = VisibilitySettings()
    commands: tuple[Command, ...] = DEFAULT_COMMANDS
    """Exact commands a beat may run without a model; a list of the team's replaces the built-in one."""
    daily_budget_usd: Usd | None = None
    """What one session's beats may cost in a UTC day; null: no limit of their own."""
    suggestions_per_day: Annotated[int, Field(ge=0, le=50)] = 3
    """How many tasks of other sessions a session is offered in a UTC day; 0: none."""
