"""The only reader of triage.yml.

Everything wrong is found at once and refused, each problem naming its key and what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from bot.brief_settings import BriefSettings
from bot.case_settings import EXPIRE_AFTER, REMIND_AFTER, Patience, SaveNotes
from bot.domain.mcp_config import McpConfig
from bot.errors import ConfigError
from bot.escalation_settings import EscalationSettings
from bot.heartbeat_settings import BeatSettings
from bot.model_settings import (
    BudgetSettings,
    InvestigatorSettings,
    ModelId,
    PriceSettings,
    Provider,
    ValidatorSettings,
    WebAddress,
)
from bot.session_settings import SessionId, SessionSettings, across, inherit
from bot.setting_problems import explain
from bot.setting_types import ApproverId, ChannelId, Folder, Interval, Word
from bot.slack_settings import SlackSettings

Language = Literal["en", "es", "pt", "de", "fr", "id", "ja", "zh"]
"""Languages with a word list."""


def _regular_expression(pattern: str) -> str:
    """Return a pattern that the rules can join with others: alone it compiles, and side by side with another."""
    try:
        for form in (pattern, f"(?:{pattern})|(?:{pattern})"):
            re.compile(form)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern[:60]!r} is no regular expression the rules can use: {error}") from error
    return pattern


Pattern = Annotated[Word, AfterValidator(_regular_expression)]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WatchedChat(_Block):
    """One channel the bot watches."""

    chat_id: ChannelId
    name: str | None = None


class WatcherSettings(_Block):
    """Which messages count at all."""

    mentions_anywhere: bool = True
    """Answer a mention in channels that are not watched, too."""
    allow_bots: tuple[str, ...] = ()
    """Bot or user ids of alert bots whose messages are read."""
    allow_external: bool = False
    """Read messages of guests and of Slack Connect partners."""
    backfill_max: Interval = timedelta(hours=24)
    """After an absence, how far back missed messages are read; never further than the first start."""


class ClassifierSettings(_Block):
    """What the team adds to the rules that choose which messages deserve work."""

    bot_id: str | None = None
    ack_patterns: tuple[Pattern, ...] = ()
    question_keywords: tuple[Word, ...] = ()
    alarm_keywords: tuple[Word, ...] = ()
    languages: tuple[Language, ...] = get_args(Language)
    skip_chatter: bool = False


class Settings(_Block):
    """The whole of triage.yml; an absent key takes its default."""

    codebase: Folder
    """The git checkout whose committed files are the evidence."""
    ops_channel: ChannelId
    """The private channel where drafts wait for approval."""
    watched_chats: tuple[WatchedChat, ...] = ()
    approvers: tuple[ApproverId, ...] | None = None
    """Who may approve; absent: everybody in the ops channel. An empty list: nobody."""
    team_language: Annotated[str, Field(pattern="^[a-z]{2}$")] = "en"
    slack: SlackSettings = SlackSettings()
    watcher: WatcherSettings = WatcherSettings()
    classifier: ClassifierSettings = ClassifierSettings()
    investigator: InvestigatorSettings = InvestigatorSettings()
    validator: ValidatorSettings = ValidatorSettings()
    escalation: EscalationSettings = EscalationSettings()
    provider: Provider = "anthropic"
    """Who serves the models; only `anthropic` needs ANTHROPIC_API_KEY, a cloud finds its own credentials."""
    base_url: WebAddress | None = None
    """Another address for the models; absent: ANTHROPIC_BASE_URL, then the provider's own."""
    mcp_servers: McpConfig = {}
    pricing: dict[ModelId, PriceSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    max_concurrent_sessions: Annotated[int, Field(ge=1, le=16)] = 2
    heartbeat: BeatSettings = BeatSettings()
    """What all sessions share."""
    sessions: dict[SessionId, SessionSettings] = {}
    """The watched workspace folders; none: no heartbeats. What a session's block leaves out is `heartbeat`'s."""
    remind_after: Patience = REMIND_AFTER
    """How long a card may wait before the ops channel is reminded of it, once; null: never."""
    expire_after: Patience = EXPIRE_AFTER
    """How long nobody may touch a waiting card before it is closed; null: for ever."""
    save_notes: SaveNotes = "ask"
    brief: BriefSettings = BriefSettings()
    baseline_reply_s: Annotated[float, Field(gt=0, le=604_800)] | None = None
    """How long an answer took before the bot, median, in seconds; `triage metrics` compares with it."""


def find_config(given: Path | None, home: Path) -> Path:
    """Return the config file to read: the one given, else ./triage.yml, else triage.yml in the data directory.

    Raises:
        ConfigError: there is none.
    """
    candidates = [given] if given else [Path("triage.yml"), home / "triage.yml"]
    for path in candidates:
        if path.is_file():
            return path
    raise ConfigError(f"no config at {' or '.join(map(str, candidates))}; copy triage.example.yml there and fill it in")


def load_settings(path: Path) -> Settings:
    """Return the checked settings of one triage.yml.

    Raises:
        ConfigError: listing every problem found, each with its key.
    """
    config = _read_yaml(path)
    problems = list(across(config, path.parent))
    try:
        settings = Settings.model_validate(inherit(config), context={"base": path.parent})
    except ValidationError as error:
        raise ConfigError(*_said_once(error.errors()), *problems) from error
    if problems:
        raise ConfigError(*problems)
    return settings


def _said_once(details: Sequence[ErrorDetails]) -> Iterator[str]:
    """Yield each problem; one that sessions inherit is named in the shared block alone."""
    shared = {(*detail["loc"][1:], detail["msg"]) for detail in details if detail["loc"][:1] == ("heartbeat",)}
    for detail in details:
        inherited = detail["loc"][:1] == ("sessions",) and (*detail["loc"][3:], detail["msg"]) in shared
        if not inherited:
            yield explain(detail, Settings)


def load_classifier(path: Path) -> ClassifierSettings:
    """Return only the `classifier` block of a triage.yml; raises ConfigError as `load_settings` does."""
    block = _read_yaml(path).get("classifier")
    try:
        return ClassifierSettings() if block is None else ClassifierSettings.model_validate(block)
    except ValidationError as error:
        raise ConfigError(*[explain(detail, Settings, "classifier") for detail in error.errors()]) from error


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or a date such as 2026-13-01
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path} is not valid YAML{where}: {getattr(error, 'problem', None) or error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold keys and values; see triage.example.yml")
    return data
