"""The only reader of triage.yml and of the environment.

Everything wrong is found at once and refused, each problem naming its key and what would be right. Secrets come from
the environment alone and are hidden in repr, logs and errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import urlsplit

import yaml
from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
)

from bot.domain.mcp_config import McpConfig
from bot.errors import ConfigError
from bot.model_settings import (
    BudgetSettings,
    InvestigatorSettings,
    ModelId,
    PriceSettings,
    Provider,
    StallSeconds,
    ValidatorSettings,
    WebAddress,
)
from bot.setting_problems import explain, message_of

Language = Literal["en", "es", "pt", "de", "fr", "id", "ja", "zh"]
"""Languages with a word list."""

SLACK_API_URL: Final = "https://slack.com/api/"
_URL: Final = re.compile(r"https?://[\w.:\[\]-]+(?:/[^\s?#]*)?", re.ASCII)
_TOKEN_TAIL: Final = re.compile(r"[A-Za-z0-9-]+")
_TOKENS: Final = (
    ("SLACK_BOT_TOKEN", "xoxb-", "OAuth & Permissions"),
    ("SLACK_APP_TOKEN", "xapp-", "Basic Information > App-Level Tokens"),
)


def _slack_id(prefixes: str, kind: str, where: str) -> BeforeValidator:
    def check(value: object) -> object:
        good = (
            isinstance(value, str) and value[:1] in prefixes and value.isalnum() and value.isupper() and len(value) > 2
        )
        if not good:
            raise ValueError(f"{value!r} is no {kind}; {where}, it looks like {prefixes[0]}0123ABCD")
        return value

    return BeforeValidator(check)


ChannelId = Annotated[str, _slack_id("CG", "channel id", "copy it from the foot of the channel's details in Slack")]
ApproverId = Annotated[str, _slack_id("UWS", "user or user-group id", "copy it from the profile's menu in Slack")]


def _no_problem(value: object) -> object:
    if isinstance(value, str) and not value.strip(" \t\n^"):
        raise ValueError("is empty")
    return value


def _regular_expression(pattern: str) -> str:
    """Return a pattern that the rules can join with others: alone it compiles, and side by side with another."""
    try:
        for form in (pattern, f"(?:{pattern})|(?:{pattern})"):
            re.compile(form)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern[:60]!r} is no regular expression the rules can use: {error}") from error
    return pattern


Word = Annotated[str, BeforeValidator(_no_problem)]
Pattern = Annotated[Word, AfterValidator(_regular_expression)]


def _existing_folder(path: Path, info: ValidationInfo) -> Path:
    base = (info.context or {}).get("base", Path())
    try:
        folder: Path = (base / path.expanduser()).resolve()
        if folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a loop of links, too long, a NUL in it
        raise ValueError(f"{str(path)[:200]!r} cannot be looked up; give the path of a git checkout") from error
    raise ValueError(f"{folder} is no folder; give the path of a git checkout")


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

    codebase: Annotated[Path, BeforeValidator(_no_problem), AfterValidator(_existing_folder)]
    """The git checkout whose committed files are the evidence."""
    ops_channel: ChannelId
    """The private channel where drafts wait for approval."""
    watched_chats: tuple[WatchedChat, ...] = ()
    approvers: tuple[ApproverId, ...] | None = None
    """Who may approve; absent: everybody in the ops channel. An empty list: nobody."""
    team_language: Annotated[str, Field(pattern="^[a-z]{2}$")] = "en"
    watcher: WatcherSettings = WatcherSettings()
    classifier: ClassifierSettings = ClassifierSettings()
    investigator: InvestigatorSettings = InvestigatorSettings()
    validator: ValidatorSettings = ValidatorSettings()
    provider: Provider = "anthropic"
    """Who serves the models; only `anthropic` needs ANTHROPIC_API_KEY, a cloud finds its own credentials."""
    base_url: WebAddress | None = None
    """Another address for the models; absent: ANTHROPIC_BASE_URL, then the provider's own."""
    mcp_servers: McpConfig = {}
    pricing: dict[ModelId, PriceSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    max_concurrent_sessions: Annotated[int, Field(ge=1, le=16)] = 2


class Environment(_Block):
    """What the environment holds; only tokens are required, and only to talk to Slack."""

    home: Path
    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_api_url: str = SLACK_API_URL
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: WebAddress | None = None
    aws_bearer_token: SecretStr | None = None
    aws_region: str | None = None
    vertex_region: str | None = None
    vertex_project_id: str | None = None
    foundry_api_key: SecretStr | None = None
    foundry_resource: str | None = None
    stall_s: StallSeconds | None = None
    variables: dict[str, str] = Field(default={}, repr=False, exclude=True)
    """All of it, for what names its own variables: the headers and processes of MCP servers."""

    def secrets(self) -> frozenset[str]:
        """Return the secret values of this process, 8 characters or more, for scrubbing."""
        fields = (getattr(self, name) for name in type(self).model_fields)
        values = (field.get_secret_value() for field in fields if isinstance(field, SecretStr))
        return frozenset(value for value in values if len(value) >= 8)


_VARIABLES: Final = {
    "home": "TRIAGE_HOME",
    "slack_bot_token": "SLACK_BOT_TOKEN",
    "slack_app_token": "SLACK_APP_TOKEN",
    "slack_api_url": "SLACK_API_URL",
    "anthropic_api_key": "ANTHROPIC_API_KEY",
    "anthropic_base_url": "ANTHROPIC_BASE_URL",
    "aws_bearer_token": "AWS_BEARER_TOKEN_BEDROCK",
    "aws_region": "AWS_REGION",
    "vertex_region": "CLOUD_ML_REGION",
    "vertex_project_id": "ANTHROPIC_VERTEX_PROJECT_ID",
    "foundry_api_key": "ANTHROPIC_FOUNDRY_API_KEY",
    "foundry_resource": "ANTHROPIC_FOUNDRY_RESOURCE",
    "stall_s": "TRIAGE_STALL_S",
}


def read_environment(environ: Mapping[str, str] | None = None, *, dotenv: Path | None = None) -> Environment:
    """Return the environment's part of the settings; variables win over the lines of a `.env` file.

    Raises:
        ConfigError: a variable that is set has a value that cannot be used, or the file cannot be read.
    """
    values = _read_dotenv(dotenv) if dotenv else {}
    values.update(os.environ if environ is None else environ)
    problems = _address_problems(values)
    found: dict[str, Any] = {field: values[name] for field, name in _VARIABLES.items() if values.get(name)}
    found["variables"] = {name: value for name, value in values.items() if value is not None}
    found["home"] = _expanded(found.get("home", "~/.triage")) or Path()
    found["slack_api_url"] = found.get("slack_api_url", SLACK_API_URL).rstrip("/") + "/"
    try:
        environment = Environment.model_validate(found)
    except ValidationError as error:
        details = [(_VARIABLES[str(detail["loc"][0])], detail) for detail in error.errors()]
        raise ConfigError(*problems, *[f"{name}: {message_of(detail)}" for name, detail in details]) from error
    if problems:
        raise ConfigError(*problems)
    return environment


def _address_problems(values: Mapping[str, str | None]) -> list[str]:
    """Return what is wrong with the two addresses every command needs."""
    problems = []
    if _expanded(values.get("TRIAGE_HOME") or "~/.triage") is None:
        problems.append(
            "TRIAGE_HOME (or its default, ~/.triage) leads nowhere; set it to the data directory's full path"
        )
    if not _is_url(values.get("SLACK_API_URL") or SLACK_API_URL):
        problems.append(f"SLACK_API_URL is no address of a web server; it looks like {SLACK_API_URL}, or leave it out")
    return problems


def stall_limit_s(settings: Settings, environment: Environment) -> float | None:
    """Return how long a model may be silent: as configured, else TRIAGE_STALL_S, else the default; None: for ever."""
    if "stall_s" in settings.investigator.model_fields_set or environment.stall_s is None:
        return settings.investigator.stall_s
    return environment.stall_s


def uses_models(settings: Settings, environment: Environment) -> bool:
    """Whether a model investigates: with an API key, or where a cloud brings its own credentials."""
    return environment.anthropic_api_key is not None or settings.provider != "anthropic"


def _read_dotenv(path: Path) -> dict[str, str | None]:
    try:
        return dict(dotenv_values(path)) if path.is_file() else {}
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; make it yours, `chmod 600 {path}`") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text; write it again, starting from .env.example") from error


def _expanded(text: str) -> Path | None:
    """Return an absolute path, or None where `~` or `~user` has no home folder or the text can be no path."""
    try:
        return None if "\0" in text else Path(text).expanduser().absolute()
    except RuntimeError:
        return None


def _is_url(text: str) -> bool:
    try:
        return _URL.fullmatch(text) is not None and bool(urlsplit(text).hostname) and urlsplit(text).port != 0
    except ValueError:  # a port over 65535, brackets that do not match
        return False


def require_tokens(environment: Environment) -> tuple[str, str]:
    """Return `(bot token, app token)`.

    Raises:
        ConfigError: one is missing, still the example's, has been given in the other's place, or holds what no token
            does; the value is never repeated.
    """
    secrets = (environment.slack_bot_token, environment.slack_app_token)
    bot, app = (secret.get_secret_value() if secret else "" for secret in secrets)
    problems = [
        f"{name} {wrong}; copy the {prefix}... token from the app's page {page} into .env"
        for token, (name, prefix, page) in zip((bot, app), _TOKENS, strict=True)
        if (wrong := _token_problem(token, prefix))
    ]
    if problems:
        raise ConfigError(*problems)
    return bot, app


def _token_problem(token: str, prefix: str) -> str | None:
    if not token:
        return "is not set"
    if not token.startswith(prefix):
        return f"does not start with {prefix}"
    if token.startswith(f"{prefix}your-"):
        return "is still the example's"
    if not _TOKEN_TAIL.fullmatch(token.removeprefix(prefix)):
        return "holds more than letters, digits and dashes, a blank or a line end perhaps"
    return None


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
    try:
        return Settings.model_validate(_read_yaml(path), context={"base": path.parent})
    except ValidationError as error:
        raise ConfigError(*[explain(detail, Settings) for detail in error.errors()]) from error


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
