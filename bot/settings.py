"""The only reader of triage.yml and of the environment.

Everything wrong is found at once and refused, each problem naming its key and what would be right. Secrets come from
the environment alone and are hidden in repr, logs and errors.
"""

from __future__ import annotations

import difflib
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
from pydantic_core import ErrorDetails

from bot.domain.secrets import redact
from bot.errors import ConfigError

Language = Literal["en", "es", "pt", "de", "fr", "id", "ja", "zh"]
"""Languages with a word list."""

SLACK_API_URL: Final = "https://slack.com/api/"
_URL: Final = re.compile(r"https?://[\w.:\[\]-]+(?:/[^\s?#]*)?", re.ASCII)
_TOKEN_TAIL: Final = re.compile(r"[A-Za-z0-9-]+")
_TOKENS: Final = (
    ("SLACK_BOT_TOKEN", "xoxb-", "OAuth & Permissions"),
    ("SLACK_APP_TOKEN", "xapp-", "Basic Information > App-Level Tokens"),
)
_IN_OUR_WORDS: Final = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be over {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le:g}",
    "model_attributes_type": "must hold keys and values; see triage.example.yml",
    "model_type": "must hold keys and values; see triage.example.yml",
    "path_type": "must be a path, such as ~/src/shop",
    "string_pattern_mismatch": "must be two small letters, such as en",
    "string_type": "must be a text",
    "tuple_type": "must be a list, such as [first, second]",
}
"""What is said instead of pydantic's message, by its type of error; the rest of pydantic's are plain enough."""


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


class InvestigatorSettings(_Block):
    """Limits of one investigation."""

    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2
    hard_cap_runtime_min: Annotated[float, Field(gt=0, le=60)] = 5


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
    max_concurrent_sessions: Annotated[int, Field(ge=1, le=16)] = 2


class Environment(_Block):
    """What the environment holds; only tokens are required, and only to talk to Slack."""

    home: Path
    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_api_url: str = SLACK_API_URL

    def secrets(self) -> frozenset[str]:
        """Return the secret values of this process, 8 characters or more, for scrubbing."""
        values = (self.slack_bot_token, self.slack_app_token)
        return frozenset(v.get_secret_value() for v in values if v and len(v.get_secret_value()) >= 8)


def read_environment(environ: Mapping[str, str] | None = None, *, dotenv: Path | None = None) -> Environment:
    """Return the environment's part of the settings; variables win over the lines of a `.env` file.

    Raises:
        ConfigError: TRIAGE_HOME or SLACK_API_URL cannot be used, or the file cannot be read.
    """
    values = _read_dotenv(dotenv) if dotenv else {}
    values.update(os.environ if environ is None else environ)
    home = _expanded(values.get("TRIAGE_HOME") or "~/.triage")
    url = values.get("SLACK_API_URL") or SLACK_API_URL
    problems = []
    if home is None:
        problems.append(
            "TRIAGE_HOME (or its default, ~/.triage) leads nowhere; set it to the data directory's full path"
        )
    if not _is_url(url):
        problems.append(f"SLACK_API_URL is no address of a web server; it looks like {SLACK_API_URL}, or leave it out")
    if home is None or problems:
        raise ConfigError(*problems)
    return Environment(
        home=home,
        slack_bot_token=SecretStr(token) if (token := values.get("SLACK_BOT_TOKEN")) else None,
        slack_app_token=SecretStr(token) if (token := values.get("SLACK_APP_TOKEN")) else None,
        slack_api_url=url if url.endswith("/") else f"{url}/",
    )


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
        raise ConfigError(*map(_explain, error.errors())) from error


def load_classifier(path: Path) -> ClassifierSettings:
    """Return only the `classifier` block of a triage.yml; raises ConfigError as `load_settings` does."""
    block = _read_yaml(path).get("classifier")
    try:
        return ClassifierSettings() if block is None else ClassifierSettings.model_validate(block)
    except ValidationError as error:
        raise ConfigError(*[_explain(detail, "classifier") for detail in error.errors()]) from error


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


def _explain(detail: ErrorDetails, *inside: str) -> str:
    """Return one problem as `key: what is wrong and what would be right`; `inside` leads to the block it lies in."""
    location = (*inside, *detail["loc"])
    key = ".".join(map(str, location))
    if detail["type"] == "extra_forbidden":
        known = _keys_at(location[:-1], Settings)
        near = difflib.get_close_matches(str(location[-1]), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
        return redact(f"{key}: unknown key; {hint}")
    if detail["type"] == "missing":
        return f"{key}: is required; see triage.example.yml"
    return redact(f"{key}: {_message(detail)}{_given(detail)}")


def _message(detail: ErrorDetails) -> str:
    ours = _IN_OUR_WORDS.get(detail["type"])
    said = ours.format_map(detail.get("ctx", {})) if ours else detail["msg"].removeprefix("Value error, ")
    return f"{said[:1].lower()}{said[1:]}"


def _given(detail: ErrorDetails) -> str:
    value = detail["input"]
    simple = isinstance(value, str | int | float | bool) and detail["type"] != "value_error"
    return f" (it is {str(value)[:60]!r})" if simple else ""


def _keys_at(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for part in location:
        if isinstance(part, int):
            continue
        field = model.model_fields[part].annotation
        inner = next((t for t in (field, *getattr(field, "__args__", ())) if _is_model(t)), None)
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
