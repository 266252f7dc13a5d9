"""The part of triage.yml called `heartbeat`: how sessions are checked. Values only."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    WithJsonSchema,
    model_validator,
)

from bot.config.config_errors import EXAMPLE
from bot.config.field_types import (
    INTERVAL_FORM,
    ClockTime,
    EscalationId,
    Interval,
    PerhapsInterval,
    SettingsBlock,
    WindowEnd,
    check_window,
    described_as,
    form,
    zone_or,
)
from bot.config.model_settings import DEFAULT_MODEL, MODEL_ID, ModelId, Usd
from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS, parse_template
from bot.domain.paging import AGAIN_AFTER
from bot.domain.severity import Severity
from bot.errors import ConfigError

ZONES_OF_THE_OWNER: Final = ("user", "local")
"""`user`: the zone in the owner's Slack profile; `local`: the machine's."""

_PLACES: Final = {
    "slack": (re.compile("[CGDUW][A-Z0-9]{2,}"), "Slack user or channel id such as U0123ANN"),
    "telegram": (
        re.compile("-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{4,31}"),
        "Telegram chat such as -1001234567890 or @name",
    ),
    "webhook": (
        re.compile(r"https?://[^\s/@?#\\]+(?:[/?][^\s@]*)?"),
        "web address without credentials such as https://hooks.example.com/triage",
    ),
    "none": (re.compile("(?s:.*)"), ""),
}
"""What `to` may be, by `channel`, and what people call it."""

LONGEST_INTERVAL: Final = timedelta(days=366)


class HoursSettings(SettingsBlock):
    """When checks run by themselves; what somebody asks for runs at any hour."""

    start: ClockTime = "08:00"
    """The first minute inside."""
    end: WindowEnd = "22:00"
    """The first minute outside; before `start`, the window goes over midnight. Not the same as `start`."""
    timezone: Annotated[
        str, zone_or(*ZONES_OF_THE_OWNER), described_as("user, local, or an IANA name such as Europe/Berlin")
    ] = "user"
    """`user`: the zone in the owner's Slack profile; `local`: the machine's."""

    @model_validator(mode="after")
    def _is_a_window(self) -> Self:
        check_window(self.start, self.end)
        return self


class DeliverSettings(SettingsBlock):
    """Where alerts go."""

    mode: Literal["last", "explicit", "none"] = "last"
    """`last`: where the owner last acted, at first their DM; `explicit`: `channel` and `to`; `none`: the log only."""
    channel: Literal["slack", "telegram", "webhook"] | None = None
    """The kind of place; needed with `explicit`. `telegram` also needs TELEGRAM_BOT_TOKEN."""
    to: Annotated[
        str | None,
        Field(coerce_numbers_to_str=True),
        WithJsonSchema({"title": "text or Telegram's number, or null", "type": ["string", "integer", "null"]}),
    ] = None
    """A Slack id, a Telegram chat (number or @name), or a web address; needed with `explicit`."""

    @model_validator(mode="after")
    def _is_a_place(self) -> Self:
        if self.mode == "explicit" and None in (self.channel, self.to):
            raise ValueError(f"channel and to are needed where mode is explicit; see {EXAMPLE}")
        pattern, like = _PLACES[self.channel or "none"]
        if self.to is not None and not pattern.fullmatch(self.to):
            raise ValueError(f"to: {self.to[:60]!r} is no {like}")
        return self


class VisibilitySettings(SettingsBlock):
    """What is shown at all; all three off: nothing is checked."""

    show_ok: bool = False
    """Say one line when all is well."""
    show_alerts: bool = True
    """Send what a human must know; false: it is only logged."""
    use_indicator: bool = True
    """Keep the session's status in App Home and lists up to date."""


def _command(value: object) -> object:
    try:
        return parse_template(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error


Command = Annotated[
    tuple[str, ...],
    BeforeValidator(_command),
    WithJsonSchema(
        {
            "title": "command line, or list of its words",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        }
    ),
]


def _not_for_ever(interval: timedelta) -> timedelta:
    if interval > LONGEST_INTERVAL:
        raise ValueError(f"must be at most {LONGEST_INTERVAL.days}d; to switch checks off write enabled: false")
    return interval


class BeatSettings(SettingsBlock):
    """How sessions are checked: all in `heartbeat`, one alone in `sessions.<id>.heartbeat`."""

    enabled: bool = True
    """false: nothing is checked, whoever asks. `/triage heartbeat on|off` goes over it."""
    every: Annotated[
        Interval,
        AfterValidator(_not_for_ever),
        described_as(f"duration up to {LONGEST_INTERVAL.days}d, such as 15m or 2h", INTERVAL_FORM),
    ] = timedelta(minutes=30)
    """How often a check is due. `/triage heartbeat every` goes over it."""
    active_hours: HoursSettings = HoursSettings()
    prompt: str = ""
    """Words for the model in every full run; tasks stand in HEARTBEAT.md."""
    ack_token: Annotated[str, *form("[A-Za-z][A-Za-z0-9_-]{1,39}", "single word such as HEARTBEAT_OK")] = "HEARTBEAT_OK"  # noqa: S105 - a word
    """What a model says when all is well."""
    ack_max_chars: Annotated[int, Field(ge=0, le=10_000)] = 300
    """A message beside `ok` up to this length stands in the morning brief only."""
    include_reasoning: bool = False
    """Show the summary of the run's reasoning under its alert."""
    severity: Annotated[Severity, WithJsonSchema({"type": "string", "enum": [str(each) for each in Severity]})] = (
        Severity.ACT
    )
    """How urgent a finding is that does not say so."""
    again_after: PerhapsInterval = AGAIN_AFTER
    """As in `pages`, for this session's findings."""
    then: EscalationId | None = None
    """As in `pages`, for this session's findings; null: nobody."""
    dedupe_window: Interval = timedelta(hours=24)
    """The same finding is not sent to the same place again within it."""
    heartbeat_model: Annotated[str, *form(f"(?:{MODEL_ID.pattern})?", f'model id such as {DEFAULT_MODEL}, or ""')] = ""
    """The cheap model that looks first; "" switches that off."""
    model: ModelId = DEFAULT_MODEL
    """The model of full runs."""
    deliver: DeliverSettings = DeliverSettings()
    visibility: VisibilitySettings = VisibilitySettings()
    commands: tuple[Command, ...] = DEFAULT_COMMANDS
    """Exact commands that run without a model; a list of yours replaces the built-in one."""
    allow_tracked_playbook: bool = False
    """true: HEARTBEAT.md is used although git tracks it, so every contributor writes the owner's tasks."""
    daily_budget_usd: Usd | None = None
    """What one session may cost in a UTC day; null: no limit of its own."""
