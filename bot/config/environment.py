"""The only reader of environment variables: the data directory, tokens and keys.

Secrets come from here alone and are hidden in repr, logs and errors. Every wrong variable is found at once and
refused.

The variables by which programs reach other machines; commands of beats, MCP servers and git that pushes see them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from bot.config.field_types import described_as
from bot.config.home import DEFAULT_TEAM
from bot.config.home import HOME as HOME
from bot.config.home import TEAMS as TEAMS
from bot.config.home import process_home as process_home
from bot.config.home import team_home as team_home
from bot.config.model_settings import StallSeconds, WebAddress
from bot.errors import ConfigError

NETWORK_VARIABLES: Final = frozenset(
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}
    | {"GIT_SSL_CAINFO", "GIT_SSL_CAPATH"}
    | {"SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"}
    | {name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())}
)
"""Proxies, certificates and ssh. None holds a secret of triage; a proxy's address may hold a password of its own."""


SLACK_API_URL: Final = "https://slack.com/api/"
_URL: Final = re.compile(r"https?://[\w.:\[\]-]+(?:/[^\s?#]*)?", re.ASCII)
_TOKENS: Final = {
    "SLACK_BOT_TOKEN": (re.compile("xoxb-[A-Za-z0-9-]+"), "xoxb-... token", "OAuth & Permissions"),
    "SLACK_APP_TOKEN": (re.compile("xapp-[A-Za-z0-9-]+"), "xapp-... token", "Basic Information > App-Level Tokens"),
    "SLACK_SIGNING_SECRET": (
        re.compile("[0-9A-Za-z]{16,128}"),
        "secret of 16 letters and digits or more",
        "Basic Information > App Credentials",
    ),
}
"""The form of each secret of Slack's, what it looks like, and on which of the app's pages it stands.

Whoever knows or guesses the signing secret is Slack to us, so a short one is as bad as none.
"""

_CODE_HOSTS: Final = {"github": "TRIAGE_GITHUB_TOKEN", "gitlab": "TRIAGE_GITLAB_TOKEN", "gitea": "TRIAGE_GITEA_TOKEN"}
"""The variable with the token of each kind of code host; `_<CODEBASE>` behind it is that of one codebase."""

CLOUD_SECRETS: Final = ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_FOUNDRY_API_KEY")
"""What the SDKs of clouds read that is secret."""


def _expanded(value: Path | str) -> Path:
    try:
        if "\0" not in str(value):
            return Path(value).expanduser().absolute()
    except RuntimeError:  # `~` or `~user` has no home folder
        pass
    raise ValueError(f"is not a usable path (where it is not set: {HOME}); set it to the data directory's full path")


def _web_server(text: str) -> str:
    try:
        is_url = _URL.fullmatch(text) and urlsplit(text).hostname and urlsplit(text).port != 0
    except ValueError:  # a port over 65535, brackets that do not match
        is_url = False
    if not is_url:
        raise ValueError(f"is not the address of a web server; it looks like {SLACK_API_URL}, or leave it out")
    return text.rstrip("/") + "/"


class Environment(BaseModel):
    """What the environment holds, or else `.env` in the current folder. Read once, at start."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    home: Annotated[
        Path,
        BeforeValidator(_expanded),
        described_as("path of a folder"),
        Field(alias="TRIAGE_HOME", json_schema_extra={"default": HOME}),
    ]
    """The data directory: journals, state, the index. One process at a time works on it."""
    database_url: SecretStr | None = Field(None, alias="TRIAGE_DATABASE_URL")
    """`postgresql://…`: state is kept there, and any number of replicas share it; without it, in files."""
    slack_bot_token: SecretStr | None = Field(None, alias="SLACK_BOT_TOKEN")
    """The `xoxb-` token of the installed app; needed by `triage run`."""
    slack_app_token: SecretStr | None = Field(None, alias="SLACK_APP_TOKEN")
    """The `xapp-` token with the scope connections:write; needed in Socket Mode only."""
    slack_signing_secret: SecretStr | None = Field(None, alias="SLACK_SIGNING_SECRET")
    """Proves that a request comes from Slack; needed in HTTP mode only."""
    slack_api_url: Annotated[str, AfterValidator(_web_server), described_as("web address")] = Field(
        SLACK_API_URL, alias="SLACK_API_URL"
    )
    """Another address for Slack's Web API; the bot token goes there."""
    telegram_bot_token: SecretStr | None = Field(None, alias="TELEGRAM_BOT_TOKEN")
    """Needed where a session delivers to Telegram."""
    github_token: SecretStr | None = Field(None, alias="TRIAGE_GITHUB_TOKEN")
    """Draft pull requests on GitHub: contents and pull requests, read and write. Of the codebase `shop-api` alone:
    `TRIAGE_GITHUB_TOKEN_SHOP_API`; the two below in the same way."""
    gitlab_token: SecretStr | None = Field(None, alias="TRIAGE_GITLAB_TOKEN")
    """Draft merge requests on GitLab: scope `api`, role Developer."""
    gitea_token: SecretStr | None = Field(None, alias="TRIAGE_GITEA_TOKEN")
    """Draft pull requests on Gitea or Forgejo: scope `write:repository`."""
    anthropic_api_key: SecretStr | None = Field(None, alias="ANTHROPIC_API_KEY")
    """Models instead of the offline search; without it no model is called."""
    anthropic_base_url: WebAddress | None = Field(None, alias="ANTHROPIC_BASE_URL")
    """Another address for the models; `base_url` in triage.yml goes over it. The key goes there."""
    stall_s: StallSeconds | None = Field(None, alias="TRIAGE_STALL_S")
    """Seconds a model may be silent; `investigator.stall_s` in triage.yml goes over it."""
    variables: dict[str, str] = Field(default={}, repr=False, exclude=True)
    """What triage.yml names itself, for the headers and processes of MCP servers; what the SDK of a cloud reads
    (`AWS_REGION`, `CLOUD_ML_REGION`, `ANTHROPIC_VERTEX_PROJECT_ID` …); and TZ, the machine's zone."""

    def secrets(self) -> frozenset[str]:
        """Return the secret values of this process, 8 characters or more, for scrubbing."""
        fields = (getattr(self, name) for name in type(self).model_fields)
        values = {field.get_secret_value() for field in fields if isinstance(field, SecretStr)}
        of_codebases = tuple(f"{name}_" for name in _CODE_HOSTS.values())
        named = (*of_codebases, *CLOUD_SECRETS)
        values |= {value for name, value in self.variables.items() if name.startswith(named)}
        proxies = {self.variables.get(name, "") for name in NETWORK_VARIABLES}
        values |= {password for value in values | proxies if (password := _password(value))}
        return frozenset(value for value in values if len(value) >= 8)

    def of_team(self, team: str) -> Environment:
        """Return the same for one team, whose data directory lies in ours; the one team of old has ours itself."""
        return self if team == DEFAULT_TEAM else self.model_copy(update={"home": team_home(self.home, team)})


def host_token_name(kind: str, codebase: str = "") -> str | None:
    """Return the variable that holds the token for a kind of code host; None of a kind that takes no pull requests.

    >>> host_token_name("gitlab"), host_token_name("gitlab", "shop-api")
    ('TRIAGE_GITLAB_TOKEN', 'TRIAGE_GITLAB_TOKEN_SHOP_API')
    """
    name = _CODE_HOSTS.get(kind)
    return name and f"{name}_{codebase.replace('-', '_').upper()}".rstrip("_")


VARIABLES: Final = tuple(field.alias for field in Environment.model_fields.values() if field.alias)
"""The variables that are read."""


def read_environment(
    environ: Mapping[str, str] | None = None, *, dotenv: Path | None = None, home: Path | None = None
) -> Environment:
    """Return the environment's part of the settings; variables win over the lines of a `.env` file, `home` over all.

    Raises:
        ConfigError: a variable that is set has a value that cannot be used, or the file cannot be read.
    """
    values = _read_dotenv(dotenv) if dotenv else {}
    values.update(os.environ if environ is None else environ)
    if home is not None:
        values["TRIAGE_HOME"] = str(home)
    found: dict[str, Any] = {name: values[name] for name in VARIABLES if values.get(name)}
    found["variables"] = {name: value for name, value in values.items() if value is not None}
    try:
        return Environment.model_validate({"TRIAGE_HOME": HOME, **found})
    except ValidationError as error:
        from bot.config.written_keys import message_of  # here: it reads triage.yml too, which takes long to import

        raise ConfigError(*(f"{detail['loc'][0]}: {message_of(detail)}" for detail in error.errors())) from error


def _read_dotenv(path: Path) -> dict[str, str | None]:
    try:
        return dict(dotenv_values(path)) if path.is_file() else {}
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; make it yours, `chmod 600 {path}`") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text; write it again, starting from .env.example") from error


def _password(value: str) -> str | None:
    """Return the password in an address, as it is written there."""
    try:
        return urlsplit(value).password if "://" in value else None
    except ValueError:
        return None


def require_tokens(environment: Environment) -> tuple[str, str]:
    """Return `(bot token, app token)`, which Socket Mode needs.

    Raises:
        ConfigError: one is missing, still the example's, has been given in the other's place, or holds what no token
            does; the value is never repeated.
    """
    bot, app = _required(SLACK_BOT_TOKEN=environment.slack_bot_token, SLACK_APP_TOKEN=environment.slack_app_token)
    return bot, app


def require_signing_secret(environment: Environment) -> tuple[str, str]:
    """Return `(bot token, signing secret)`, which HTTP mode needs; raises ConfigError as `require_tokens` does."""
    secret = environment.slack_signing_secret
    bot, signing = _required(SLACK_BOT_TOKEN=environment.slack_bot_token, SLACK_SIGNING_SECRET=secret)
    return bot, signing


def require_bot_token(environment: Environment) -> str:
    """Return the bot token, which is enough to post; raises ConfigError as `require_tokens` does."""
    return _required(SLACK_BOT_TOKEN=environment.slack_bot_token)[0]


def _required(**secrets: SecretStr | None) -> list[str]:
    values = {name: secret.get_secret_value() if secret else "" for name, secret in secrets.items()}
    if problems := [wrong for name, value in values.items() if (wrong := wrong_token(name, value))]:
        raise ConfigError(*problems)
    return list(values.values())


def wrong_token(name: str, value: str) -> str | None:
    """Return what is wrong with the value of a secret of Slack's and what to do, without repeating it; else None."""
    whole, like, page = _TOKENS[name]
    is_example = re.match("x[a-z]{3}-your-", value) is not None
    if whole.fullmatch(value) and not is_example:
        return None
    wrong = "is still the example's" if is_example else f"is no whole {like}" if value else "is not set"
    return f"{name} {wrong}; copy it from the app's page {page} into .env"
