"""The part of triage.yml called `heartbeat`: how sessions are checked. Values only.

The part of triage.yml called `sessions`: which workspace folders are watched, for whom.

A session's own `heartbeat` block goes over the shared one key by key, inside blocks too; a list replaces a list.
Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    WithJsonSchema,
    model_validator,
)

from bot.config.field_types import (
    INTERVAL_FORM,
    ApproverId,
    ClockTime,
    EscalationId,
    Interval,
    PerhapsFolder,
    PerhapsInterval,
    SettingsBlock,
    WindowEnd,
    check_window,
    described_as,
    form,
    look_up,
    zone_or,
)
from bot.config.model_settings import DEFAULT_MODEL, MODEL_ID, ModelId, Usd
from bot.config.written_keys import EXAMPLE, Problem, blocks_in, merged_blocks
from bot.domain.alerts import Severity
from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS, parse_template
from bot.domain.heartbeats.session_state import check_session_id
from bot.domain.paging import AGAIN_AFTER
from bot.errors import ConfigError, InputError

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


def _session_id(value: str) -> str:
    try:
        return check_session_id(value)
    except InputError as error:
        raise ValueError(str(error)) from error


SessionId = Annotated[str, AfterValidator(_session_id)]


def _owner(value: object) -> object:
    """Return the owner as it is checked: a rota of earlier versions, whose keys are removed or stored, is nobody."""
    return None if isinstance(value, Mapping) and (not value or "rota" in value) else value


class SessionSettings(SettingsBlock):
    """One watched workspace folder."""

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """What people read; absent: the id."""
    cwd: PerhapsFolder
    """The checkout that is looked after; no two sessions share one. Its HEARTBEAT.md is made when missing."""
    codebase: str | None = None
    """Instead of `cwd`: the checkout of this one of `codebases`, which must have a `path`."""
    owner: Annotated[ApproverId | None, BeforeValidator(_owner)] = None
    """Who is told: a user or a user group; absent: `deliver` must be `explicit` or `none`."""
    team: str | None = None
    """Whose it is; needed with several `teams`."""
    master: bool = False
    """Whether it looks after the other sessions' playbooks; one may."""
    heartbeat: BeatSettings = BeatSettings()
    """This session's own values for any key of `heartbeat`. An absent key inherits, a list replaces a list, null and ""
    are values.
    """


def inherit(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config whose sessions hold the shared `heartbeat` block wherever they say nothing of their own.

    That block, in turn, holds what `pages` says: of the session's team, whose blocks inherited before.

    >>> shared = {"heartbeat": {"every": "1h"}, "pages": {"then": "C1"}}
    >>> inherit({**shared, "sessions": {"a": {"heartbeat": {"model": "m"}}}})["sessions"]
    {'a': {'heartbeat': {'then': 'C1', 'every': '1h', 'model': 'm'}}}
    """
    own, teams, checkouts = config.get("heartbeat"), blocks_in(config.get("teams")), _checkouts(config)
    sessions = config.get("sessions")
    whole = {**config, "heartbeat": _over(_rings(config), own)}
    if not isinstance(sessions, Mapping):
        return whole
    first = next(iter(teams), "")
    for name, session in sessions.items():
        if isinstance(session, Mapping):
            shared = _over(_rings(teams.get(str(session.get("team") or first), config)), own)
            placed = _placed(session, checkouts)
            sessions = {**sessions, name: {**placed, "heartbeat": _over(shared, session.get("heartbeat"))}}
    return {**whole, "sessions": sessions}


def _rings(team: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a team's `pages` says of beats, too."""
    pages = team.get("pages")
    return {key: pages[key] for key in ("again_after", "then") if key in pages} if isinstance(pages, Mapping) else {}


def _over(shared: Any, own: Any) -> Any:
    """Return a block over the shared one; what is no block stays as it is, to be refused."""
    if own is None or not isinstance(shared, Mapping):
        return shared
    return merged_blocks(shared, own) if isinstance(own, Mapping) else own


def across(config: Mapping[str, Any], base: Path) -> Iterator[Problem]:
    """Yield what is wrong between the sessions of a raw config, for each alone may be right."""
    masters: dict[str, str] = {}
    folders: dict[Path, str] = {}
    for name, session in blocks_in(config.get("sessions")).items():
        if session.get("master") is True and (first := masters.setdefault(str(session.get("team")), name)) != name:
            says = f"only one session of a team may be the master, and {first} is"
            yield Problem(("sessions", name, "master"), says)
        checkouts = _checkouts(config)
        if problem := _wrong_codebase(session, checkouts):
            yield Problem(("sessions", name, "codebase"), problem)
        folder = _folder(_placed(session, checkouts).get("cwd"), base)
        if folder is not None and folders.setdefault(folder, name) != name:
            says = f"is {folders[folder]}'s too; two sessions cannot share one HEARTBEAT.md"
            yield Problem(("sessions", name, "cwd"), says)


def unreachable(name: str, deliver: DeliverSettings, *, has_telegram: bool) -> str | None:
    """Return why the alerts of the session `name` have no way to go, and what to do; None where they have one."""
    if has_telegram or deliver.mode != "explicit" or deliver.channel != "telegram":
        return None
    return (
        "its alerts go to Telegram, and TELEGRAM_BOT_TOKEN is not set. Put it into .env and start triage again, or "
        f"change sessions.{name}.heartbeat.deliver in triage.yml"
    )


def _checkouts(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the folder of each codebase by its id, None where triage clones it."""
    return {name: one.get("path") for name, one in blocks_in(config.get("codebases")).items()}


def _placed(session: Any, checkouts: Mapping[str, object]) -> Any:
    """Return a session with the folder of the codebase it names."""
    if not isinstance(session, Mapping) or "cwd" in session:
        return session
    folder = checkouts.get(str(session.get("codebase")))
    return session if folder is None else {**session, "cwd": folder}


def _wrong_codebase(session: Mapping[str, Any], checkouts: Mapping[str, object]) -> str | None:
    """Return what is wrong with the codebase a session names; None where nothing is, or it names none."""
    name = session.get("codebase")
    if name is None:
        return None
    if "cwd" in session:
        return "stands beside `cwd`; leave one of them out"
    if not isinstance(name, str):
        return None  # which is refused as what it is
    if name not in checkouts:
        return f"there is no codebase {str(name)[:60]!r}; one of {', '.join(checkouts)}"
    if checkouts[name] is None:
        return f"triage's own clone of {name} has no files to run checks on; give `cwd`, a checkout on this machine"
    return None


def _folder(given: object, base: Path) -> Path | None:
    try:
        return look_up(Path(given), base) if isinstance(given, str) and given.strip() else None
    except ValueError:
        return None
