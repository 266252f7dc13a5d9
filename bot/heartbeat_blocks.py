"""The blocks inside triage.yml's `heartbeat` block: when, to whom, how much is shown. Values only."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

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

from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.hours_settings import WindowEnd, WindowStart, zone_or
from bot.setting_problems import EXAMPLE
from bot.setting_types import reads

ZONES_OF_THE_OWNER: Final = ("user", "local")
"""`user`: the zone in the owner's Slack profile; `local`: the machine's."""


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class HoursSettings(_Block):
    """When interval wakes may start a beat; what somebody asks for runs at any hour."""

    start: WindowStart = "08:00"
    """The first minute inside."""
    end: WindowEnd = "22:00"
    """The first minute outside; before `start`, the window goes over midnight. Not the same as `start`."""
    timezone: Annotated[
        str, zone_or(*ZONES_OF_THE_OWNER), reads("user, local, or an IANA name such as Europe/Berlin")
    ] = "user"
    """Whose clock: `user` is the zone in the owner's Slack profile, `local` the machine's."""

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


_SLACK: Final = re.compile(r"[CGDUW][A-Z0-9]{2,}")
_TELEGRAM: Final = re.compile(r"-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{4,31}")
_URL: Final = re.compile(r"https?://[^\s/@?#\\]+(?:[/?][^\s@]*)?")
_PLACES: Final = {
    "slack": (_SLACK, "no Slack user or channel id; it looks like U0123ANN or C0123OPS"),
    "telegram": (_TELEGRAM, "no Telegram chat; it is a number such as -1001234567890, or @name"),
    "webhook": (_URL, "no web address; it looks like https://hooks.example.com/triage, and holds no credentials"),
}


def _needed(value: str | None, info: ValidationInfo) -> str | None:
    if value is None and info.data.get("mode") == "explicit":
        raise ValueError(f"is needed where mode is explicit; see {EXAMPLE}")
    return value


def _place(value: object, info: ValidationInfo) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # Telegram's chats are numbers, which YAML leaves numbers
    channel = info.data.get("channel")
    if channel and isinstance(value, str):
        form, wrong = _PLACES[channel]
        if not form.fullmatch(value):
            raise ValueError(f"{value[:60]!r} is {wrong}")
    return value


class DeliverSettings(_Block):
    """Where alerts go."""

    mode: Literal["last", "explicit", "none"] = "last"
    """`last`: where the owner last acted, at first their DM; `explicit`: `channel` and `to`; `none`: the log only."""
    channel: Annotated[Literal["slack", "telegram", "webhook"] | None, AfterValidator(_needed)] = Field(
        default=None, validate_default=True
    )
    """The kind of place; needed with `explicit`. `telegram` also needs TELEGRAM_BOT_TOKEN."""
    to: Annotated[
        str | None,
        BeforeValidator(_place),
        AfterValidator(_needed),
        WithJsonSchema({"title": "text or Telegram's number, or null", "type": ["string", "integer", "null"]}),
    ] = Field(default=None, validate_default=True)
    """A Slack user or channel id, a Telegram chat (number or @name), or a web address; needed with `explicit`."""


class VisibilitySettings(_Block):
    """What is shown at all; all three off: no beat runs."""

    show_ok: bool = False
    """Say one line when all is well."""
    show_alerts: bool = True
    """Send what a human must know; false: it is only logged."""
    use_indicator: bool = True
    """Keep the session's status in App Home and lists up to date."""
