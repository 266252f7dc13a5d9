"""The parts of triage.yml about heartbeats: the `heartbeat` block, which all sessions share, and `sessions`.

A session's own block goes over the shared one key by key, inside blocks too; a list replaces a list. Values only;
bot/settings.py reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from bot.domain.command_templates import parse_template
from bot.domain.hours import ActiveHours
from bot.domain.session import check_session_id
from bot.errors import ConfigError, InputError
from bot.model_settings import DEFAULT_MODEL, MODEL_ID, Usd
from bot.setting_problems import EXAMPLE
from bot.setting_types import ChannelId, Folder, Interval, UserId, look_up

ZONES_OF_THE_OWNER: Final = ("user", "local")
"""`user`: the zone in the owner's Slack profile; `local`: the machine's."""

LONGEST_INTERVAL: Final = timedelta(days=366)

DEFAULT_COMMANDS: Final = (
    "git status --short --branch",
    "git status --porcelain",
    "git fetch --quiet --prune",
    "git fetch --quiet",
    "git fetch",
    "git log --oneline -n {number}",
    "git log --oneline -n {number} {branch}",
    "git log --oneline --since=24.hours",
    "git log --oneline --since=24.hours {branch}",
    "git diff --name-only --diff-filter=U",
    "git diff --stat",
    "git for-each-ref --sort=committerdate '--format=%(committerdate:short) %(refname:short)' refs/heads",
    "git for-each-ref --sort=committerdate '--format=%(committerdate:short) %(refname:short)' refs/remotes",
    "gh pr list",
    "gh pr checks {number}",
    "gh pr status",
    "gh issue list",
)
"""What a beat may run without a model where `commands` says nothing: reading, and fetching, which changes no branch."""


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


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


def _zone(value: object) -> object:
    if value not in ZONES_OF_THE_OWNER:
        try:
            ActiveHours("00:00", "24:00", value)  # type: ignore[arg-type]  # it refuses what is no text
        except ConfigError as error:
            raise ValueError(f"{error.problems[0].removeprefix('timezone ')}, or user, or local") from error
    return value


class HoursSettings(_Block):
    """When interval wakes may start a beat."""

    start: Annotated[str, _clock("start")] = "08:00"
    end: Annotated[str, _clock("end")] = "22:00"
    timezone: Annotated[str, BeforeValidator(_zone)] = "user"
    """`user` (the zone in the owner's Slack profile), `local` (the machine's) or an IANA name."""

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
_TOKEN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,39}")
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
    to: Annotated[str | None, BeforeValidator(_place), AfterValidator(_needed)] = Field(
        default=None, validate_default=True
    )
    """A Slack user or channel, a Telegram chat, or a web address."""


class VisibilitySettings(_Block):
    """What is shown at all; all three off: no beat runs."""

    show_ok: bool = False
    """Say one line when all is well."""
    show_alerts: bool = True
    use_indicator: bool = True
    """Keep the session's status in App Home and lists up to date."""


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


class BeatSettings(_Block):
    """How a session's beats run; in `heartbeat` for all sessions, in a session's own block for it alone."""

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
    commands: tuple[Command, ...] = tuple(parse_template(text) for text in DEFAULT_COMMANDS)
    """Exact commands a beat may run without a model; a list of the team's replaces the built-in one."""
    daily_budget_usd: Usd | None = None
    """What one session's beats may cost in a UTC day; null: no limit of their own."""


def _session_id(value: str) -> str:
    try:
        return check_session_id(value)
    except InputError as error:
        raise ValueError(str(error)) from error


SessionId = Annotated[str, AfterValidator(_session_id)]


class SessionSettings(_Block):
    """One watched workspace folder."""

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """What people read; absent: the id."""
    cwd: Folder
    owner: UserId | None = None
    """Who is told; absent: nobody, and only `deliver: {mode: explicit}` or `none` lets beats run."""
    channels: tuple[ChannelId, ...] = ()
    master: bool = False
    """Whether it looks after the other sessions' playbooks; one may."""
    heartbeat: BeatSettings = BeatSettings()


def inherit(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config whose sessions hold the shared `heartbeat` block wherever they say nothing of their own.

    >>> inherit({"heartbeat": {"every": "1h"}, "sessions": {"a": {"heartbeat": {"model": "m"}}}})["sessions"]
    {'a': {'heartbeat': {'every': '1h', 'model': 'm'}}}
    """
    shared, sessions = config.get("heartbeat"), config.get("sessions")
    if not isinstance(sessions, Mapping):
        return dict(config)
    return {**config, "sessions": {name: _inheriting(session, shared) for name, session in sessions.items()}}


def across(config: Mapping[str, Any], base: Path) -> Iterator[str]:
    """Yield what is wrong between the sessions of a raw config, for each alone may be right."""
    masters: list[str] = []
    folders: dict[Path, str] = {}
    for name, session in _blocks(config.get("sessions")):
        if session.get("master") is True:
            masters.append(name)
        if len(masters) > 1 and masters[-1] == name:
            yield f"sessions.{name}.master: only one session may be the master, and {masters[0]} is"
        folder = _folder(session.get("cwd"), base)
        if folder is not None and folders.setdefault(folder, name) != name:
            yield f"sessions.{name}.cwd: is {folders[folder]}'s too; two sessions cannot share one HEARTBEAT.md"


def _inheriting(session: object, shared: object) -> object:
    if not isinstance(session, Mapping) or not isinstance(shared, Mapping):
        return session
    own = session.get("heartbeat")
    if own is None:
        return {**session, "heartbeat": dict(shared)}
    return {**session, "heartbeat": _over(shared, own) if isinstance(own, Mapping) else own}


def _over(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(shared)
    for key, value in own.items():
        below = shared.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = _over(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _blocks(sessions: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(sessions, Mapping):
        yield from ((str(name), session) for name, session in sessions.items() if isinstance(session, Mapping))


def _folder(given: object, base: Path) -> Path | None:
    try:
        return look_up(Path(given), base) if isinstance(given, str) and given.strip() else None
    except ValueError:
        return None
