"""The only reader of triage.yml.

Everything wrong is found at once and refused, each problem naming its key and what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import re2
import yaml
from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from bot.config.codebase_settings import (
    KEEP_RUNS_FOR,
    SHORT_FORM,
    CodebaseId,
    CodebaseSettings,
    FixSettings,
    across_codebases,
)
from bot.config.field_types import (
    Folder,
    InheritedValue,
    Interval,
    PerhapsInterval,
    SettingsBlock,
    Word,
    described_as,
    form,
)
from bot.config.heartbeat_settings import BeatSettings, SessionId, SessionSettings, across, inherit
from bot.config.home import DEFAULT_TEAM
from bot.config.model_settings import (
    InvestigatorSettings,
    McpConfig,
    ModelId,
    PriceSettings,
    Provider,
    ValidatorSettings,
    WebAddress,
)
from bot.config.team_settings import (
    INHERITED,
    TeamId,
    TeamMatters,
    TeamSettings,
    WatchedChat,
    across_teams,
    inherit_teams,
)
from bot.config.written_keys import WrittenKeys, explain_validation_error, read_strict
from bot.domain.citations.links import CodeHost
from bot.domain.languages.packs import LANGUAGES, Language
from bot.domain.text.linear_patterns import LinearPattern
from bot.errors import ConfigError

_PORT: Final = re.compile("[0-9]{1,5}")
_LAST_PORT: Final = 65_535


def _listening_address(value: object) -> object:
    """Return `host:port`; a block of `host` and `port`, as earlier versions had, is read too."""
    if isinstance(value, Mapping) and value.keys() <= {"host", "port"}:
        value = f"{value.get('host', '127.0.0.1')}:{value.get('port', 3000)}"
    host, _, port = str(value).rpartition(":")
    if not (host.strip() and _PORT.fullmatch(port) and int(port) <= _LAST_PORT):
        raise ValueError("is not an address to listen on; it looks like 127.0.0.1:3000, and port 0 takes a free one")
    return value


class SlackSettings(SettingsBlock):
    """How Slack reaches the bot."""

    mode: Literal["socket", "http"] = "socket"
    """`socket`: the bot dials out (Socket Mode). `http`: Slack sends signed requests (Events API)."""
    http: Annotated[str, BeforeValidator(_listening_address), described_as("host:port, such as 127.0.0.1:3000")] = (
        "127.0.0.1:3000"
    )
    """Where the bot listens in `http` mode, behind a reverse proxy with TLS; port 0 takes a free one."""

    @property
    def listens_on(self) -> tuple[str, int]:
        """The host and the port of `http`."""
        host, _, port = self.http.rpartition(":")
        return host.strip("[]"), int(port)


def _regular_expression(pattern: str) -> str:
    """Return a pattern that the rules can join with others: alone it compiles, and side by side with another."""
    try:
        for form in (pattern, f"(?:{pattern})|(?:{pattern})"):
            re.compile(form)
            LinearPattern(form).is_in("")
    except (re.error, re2.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern[:60]!r} is not a regular expression the rules can use: {error}") from error
    return pattern


Pattern = Annotated[Word, AfterValidator(_regular_expression), described_as("regular expression")]


def _without_tools(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return dict.fromkeys(value, "")
    if not isinstance(value, dict):
        raise ValueError("must be a list of ids, such as [B0123ALERTS], or {B0123ALERTS: grafana}")  # noqa: TRY004
    return value


ToolName = Annotated[
    str, *form(r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,39})?", "tool's name such as grafana"), AfterValidator(str.lower)
]
AlertBots = Annotated[
    dict[Word, ToolName],
    BeforeValidator(_without_tools),
    WithJsonSchema(
        {
            "title": "list of ids, or ids, each with a tool's name",
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ],
        }
    ),
]


class WatcherSettings(SettingsBlock):
    """Which messages count at all."""

    mentions_anywhere: bool = True
    """Answer a mention in channels that are not watched, too."""
    allow_bots: AlertBots = {}
    """Bot, app or user ids whose messages are alerts; `{B0123ALERTS: grafana}` also names the tool."""
    allow_external: bool = False
    """Read messages of guests and of Slack Connect partners."""
    backfill_max: Interval = timedelta(hours=24)
    """How far back missed messages are read."""

    def tool_of(self, sender_ids: Collection[str]) -> str | None:
        """Return which tool an alert bot writes for, by any of its ids; "" if nobody says, None if it is not listed."""
        return next((self.allow_bots[each] for each in sorted(sender_ids) if each in self.allow_bots), None)


class ClassifierSettings(SettingsBlock):
    """What the team adds to the rules that choose which messages deserve work."""

    bot_id: str | None = None
    """The bot's user id, for `triage classify` and `triage backtest`; a running bot asks Slack."""
    ack_patterns: tuple[Pattern, ...] = ()
    """More forms of thanks or agreement; in small letters, each covers the whole message."""
    question_keywords: tuple[Word, ...] = ()
    """Phrases that make a message a question without a question mark."""
    alarm_keywords: tuple[Word, ...] = ()
    """Phrases of alarms, such as "checkout is down"."""
    languages: tuple[Language, ...] = LANGUAGES
    """Whose language packs are used; an empty list leaves question marks and your own words."""
    skip_chatter: bool = False
    """Leave questions alone that are addressed to somebody else (`@alice can you …`)."""
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    """How likely a message must want an answer, 0 to 1; absent: that of the weights. A lower one hears more."""


class Settings(TeamMatters):
    """The whole of triage.yml; an absent key takes its default, an unknown one is refused, a removed one is ignored."""

    codebase: Annotated[Folder | None, InheritedValue()] = None
    """The git checkout whose committed files are the evidence; of several, see `codebases`."""
    codebases: Annotated[dict[CodebaseId, CodebaseSettings], InheritedValue()] = {}
    """Several repositories instead, by a name that stands in citations (`shop:src/x.py:3-9`)."""
    code_host: CodeHost | None = None
    """What hosts the code, where the name of `origin`'s host does not say it."""
    watched_chats: Annotated[tuple[WatchedChat, ...], InheritedValue()] = ()
    """The channels whose every message is read; none: mentions only."""
    slack: SlackSettings = SlackSettings()
    watcher: WatcherSettings = WatcherSettings()
    classifier: ClassifierSettings = ClassifierSettings()
    investigator: InvestigatorSettings = InvestigatorSettings()
    validator: ValidatorSettings = ValidatorSettings()
    provider: Provider = "anthropic"
    """Who serves the models; a cloud finds its own credentials."""
    base_url: WebAddress | None = None
    """Another address for the models; absent: ANTHROPIC_BASE_URL."""
    mcp_servers: McpConfig = {}
    """Servers whose tools become the investigator's, by a name of yours."""
    pricing: dict[ModelId, PriceSettings] = {}
    """What models cost, by id, over the built-in list; one without a price counts at the dearest known one."""
    max_concurrent_sessions: Annotated[int, Field(ge=1, le=16)] = 2
    """Jobs worked off at once, at most one of them a heartbeat."""
    heartbeat: Annotated[BeatSettings, InheritedValue()] = BeatSettings()
    teams: Annotated[dict[TeamId, TeamSettings], InheritedValue()] = {}
    """The teams that share one bot, by name; none: one team, at the top level."""
    sessions: Annotated[dict[SessionId, SessionSettings], InheritedValue()] = {}
    """The watched workspace folders; none: no heartbeats."""
    keep_runs_for: PerhapsInterval = KEEP_RUNS_FOR
    """How long records of runs, ended draft PRs and votes are kept; null: for ever."""
    fixes: FixSettings = FixSettings()
    _removed_keys: tuple[str, ...] = PrivateAttr(())

    @property
    def removed_keys(self) -> tuple[str, ...]:
        """A sentence for each key of the file that is ignored, because this version has it no more."""
        return self._removed_keys

    def with_removed_keys(self, sentences: tuple[str, ...]) -> Settings:
        """Return these settings with what is said of removed keys."""
        copy = self.model_copy()
        copy._removed_keys = sentences
        return copy

    def by_team(self) -> dict[str, Settings]:
        """Return the settings of each team, in the file's order; without `teams` these, under the name `default`."""
        if not self.teams:
            return {DEFAULT_TEAM: self}
        return {name: self._of_team(name, team) for name, team in self.teams.items()}

    @property
    def all_codebases(self) -> dict[str, CodebaseSettings]:
        """The codebases by id, whichever form they were written in; the one of the short form has the id SHORT_FORM."""
        if self.codebase is None:
            return dict(self.codebases)
        return {SHORT_FORM: CodebaseSettings.model_construct(path=self.codebase)}

    def _of_team(self, name: str, team: TeamSettings) -> Settings:
        seen = {key: one for key, one in self.codebases.items() if team.codebases is None or key in team.codebases}
        own = {key: getattr(team, key) for key in INHERITED & team.model_fields_set}  # the rest nobody wrote
        sessions = {key: one for key, one in self.sessions.items() if (one.team or name) == name}
        changes = {"codebases": seen, "watched_chats": team.channels, "sessions": sessions, "teams": {}}
        return self.model_copy(update={**own, **changes})


TAKEN_OVER: Final = frozenset(
    name
    for name, field in Settings.model_fields.items()
    if any(isinstance(mark, InheritedValue) for mark in field.metadata)
)
"""The top-level keys that a running bot takes over at SIGHUP."""


def load_settings(path: Path) -> Settings:
    """Return the checked settings of one triage.yml, without the keys that were removed.

    Raises:
        ConfigError: listing every problem found, each with its key and line.
    """
    config, keys = read_config(path)
    found = [*across(config, path.parent), *across_teams(config), *across_codebases(config)]
    problems = [keys.explain(*problem) for problem in found]
    try:
        settings = Settings.model_validate(inherit(inherit_teams(config)), context={"base": path.parent})
    except ValidationError as error:
        raise ConfigError(*_said_once(error.errors(), config, keys), *problems) from error
    if problems:
        raise ConfigError(*problems)
    return settings.with_removed_keys(tuple(keys.removed))


def _said_once(details: Sequence[ErrorDetails], config: Mapping[str, Any], keys: WrittenKeys) -> Iterator[str]:
    """Yield each problem; one that sessions or teams inherit is named where it is written alone."""
    said = set[tuple[int | str, str]]()
    for detail in details:
        place, problem = detail["loc"], (detail["loc"][-1], detail["msg"])
        is_own = keys.holds(place)
        if not is_own and (problem in said or (place == ("ops_channel",) and config.get("teams"))):
            continue
        yield explain_validation_error(detail, keys)
        if is_own or place[0] not in ("teams", "sessions"):
            said.add(problem)


def load_classifier(path: Path) -> ClassifierSettings:
    """Return only the `classifier` block of a triage.yml; raises ConfigError as `load_settings` does."""
    config, keys = read_config(path)
    block = config.get("classifier")
    try:
        return ClassifierSettings.model_validate({} if block is None else block, context={"base": path.parent})
    except ValidationError as error:
        raise ConfigError(
            *[explain_validation_error(detail, keys, "classifier") for detail in error.errors()]
        ) from error


def read_config(path: Path) -> tuple[dict[str, Any], WrittenKeys]:
    """Return what a triage.yml says, unchecked, its keys as the settings spell them, and where they stand.

    Raises:
        ConfigError: it cannot be read, or is no YAML that holds keys and values.
    """
    try:
        keys = WrittenKeys(Settings)
        data = read_strict(path.read_text(encoding="utf-8"), keys.take)
    except IsADirectoryError as error:  # Docker makes a folder where a file to be mounted is missing
        raise ConfigError(f"{path} is no file; `mv {path} {path}.old`, then `triage init`") from error
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; run this as the user who runs triage") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid YAML: it is not UTF-8 text; save it as UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is not valid YAML: it is nested too deeply; write it with fewer levels") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path} is not valid YAML{where}: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(data, dict | None):
        raise ConfigError(f"{path} must hold keys and values; see triage.example.yml")
    return data or {}, keys
