"""The parts of triage.yml about models and MCP servers: which ones, their time limits, prices, budgets and tools.

Values only; bot/config/settings.py reads them. An absent key takes a safe default: limits are on unless switched off.
No secret stands here: tokens are named as variables of the environment, which the adapter reads.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from bot.config.field_types import SettingsBlock, form

DEFAULT_MODEL: Final = "claude-opus-5-5"
DEFAULT_STALL_S: Final = 60.0

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]

MODEL_ID: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:/@-]{2,199}")
ModelId = Annotated[str, *form(MODEL_ID.pattern, f"model id such as {DEFAULT_MODEL}")]
StallSeconds = Annotated[float, Field(ge=1, le=600)]
Usd = Annotated[float, Field(gt=0, le=100_000)]
UsdPerMillionTokens = Annotated[float, Field(ge=0, le=10_000)]

VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""How a header names a variable of the environment: `Bearer ${GRAFANA_TOKEN}`."""

McpServerName = Annotated[str, Field(pattern=r"^[a-z0-9]+(?:[_-][a-z0-9]+)*$", max_length=32)]
"""A server's name prefixes its tools (`grafana__query`), so it holds no double underscore."""

_EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
_HeaderValue = Annotated[str, Field(pattern=r"^[\x20-\x7e]*$")]
_Argument = Annotated[str, Field(pattern=r"^[^\x00]*$")]
_Url = Annotated[str, Field(pattern=r"^https?://[^\s/@?#]+(?:[/?#][^\s@]*)?$")]


WebAddress = Annotated[
    str, *form("https?://[^ @?#]*", "web address without credentials such as https://models.example.com")
]


class InvestigatorSettings(SettingsBlock):
    """The model that drafts, and the limits of one investigation."""

    model: ModelId = DEFAULT_MODEL
    """Who drafts."""
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2
    """1: a bounced draft goes to the human at once. 2: it is corrected once."""
    hard_cap_runtime_min: Annotated[float, Field(gt=0, le=60)] = 5
    """Minutes one run may take."""
    stall_s: StallSeconds | None = DEFAULT_STALL_S
    """Seconds a request may be silent; null: for ever; absent: TRIAGE_STALL_S, then 60."""


class ValidatorSettings(SettingsBlock):
    """The model that attacks the draft."""

    model: ModelId | None = None
    """Who attacks the draft; null: the investigator's model."""
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 1
    """Changes nothing: a bounced draft is corrected once, unless `investigator.max_rounds` is 1."""


class TokenPrices(SettingsBlock):
    """What tokens cost, in US dollars per million; what is written to the cache costs 1.25 times `input`."""

    input: UsdPerMillionTokens
    """What it reads."""
    output: UsdPerMillionTokens
    """What it writes, thinking included."""
    cache_read: UsdPerMillionTokens
    """What it reads from the provider's cache."""


class LongPrices(TokenPrices):
    """What tokens cost in a call whose prompt is long, all of them."""

    above: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    """How many tokens a prompt may have before these prices count."""


class PriceSettings(TokenPrices):
    """What a model costs, in US dollars per million tokens."""

    long: LongPrices | None = None
    """What a call with a long prompt costs; null: the same."""

    @model_validator(mode="before")
    @classmethod
    def _take_over_long_above(cls, given: object) -> object:
        """Read `long_above`, as earlier versions called `long.above`."""
        if not isinstance(given, dict) or "long_above" not in given:
            return given
        rest = {key: value for key, value in given.items() if key != "long_above"}
        if isinstance(rest.get("long"), dict):
            rest["long"] = {"above": given["long_above"], **rest["long"]}
        return rest


class BudgetSettings(SettingsBlock):
    """What model runs may cost, in US dollars; a run stops before it would exceed it. null: no limit."""

    per_thread_usd: Usd | None = 5.0
    """All runs of one thread together."""
    per_day_usd: Usd | None = 100.0
    """All runs of a UTC day, heartbeats included."""


class McpServerSettings(SettingsBlock):
    """One server: a `command` started as a child process, or a `url` spoken to by streamable HTTP."""

    command: tuple[_Argument, ...] | None = None
    """The argument list of the process; never a shell line."""
    env: tuple[_EnvName, ...] = ()
    """Names of more variables that the process may see."""
    url: _Url | None = None
    """Where the server listens; credentials belong in a header."""
    headers: dict[_HeaderName, _HeaderValue] = {}
    """Values name a variable of the environment: `Authorization: Bearer ${GRAFANA_TOKEN}`."""
    tools: tuple[str, ...] | None = None
    """The tools that are offered; absent: those the server itself declares read-only."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a url")
        if self.command is not None and not (self.command and self.command[0].strip()):
            raise ValueError("command is empty; give the program and its arguments as a list")
        if self.url is None and self.headers:
            raise ValueError("headers belong to a url; a command takes its secrets from env")
        if self.command is None and self.env:
            raise ValueError("env belongs to a command; a url takes its secrets from headers")
        if literal := [name for name, value in self.headers.items() if not VARIABLE.search(value)]:
            raise ValueError(f"the header {literal[0]} must take its value from the environment, as in ${{NAME}}")
        return self

    def variables(self) -> frozenset[str]:
        """Return the names of the variables that the headers need."""
        return frozenset(name for value in self.headers.values() for name in VARIABLE.findall(value))


McpConfig = dict[McpServerName, McpServerSettings]
"""The servers by name, as `mcp_servers` in triage.yml has them."""
