"""The part of triage.yml about models: which ones, for how long, for how much.

Values only; bot/settings.py reads them. What is absent takes a default that is safe: limits are on unless switched off.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bot.setting_types import reads

DEFAULT_MODEL: Final = "claude-opus-5-5"
DEFAULT_STALL_S: Final = 60.0

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]

MODEL_ID: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:/@-]{2,199}")
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID.pattern}$"), reads("model id", f"^{MODEL_ID.pattern}$")]
StallSeconds = Annotated[float, Field(ge=1, le=600)]
Usd = Annotated[float, Field(gt=0, le=100_000)]
UsdPerMillionTokens = Annotated[float, Field(ge=0, le=10_000)]


def _web_address(value: object) -> object:
    good = isinstance(value, str) and value.startswith(("https://", "http://")) and not set(value) & set(" @?#")
    if not good:
        raise ValueError("is no web address; it looks like https://models.example.com, and holds no credentials")
    return value


WebAddress = Annotated[
    str, BeforeValidator(_web_address), reads("web address without credentials", "^https?://[^ @?#]*$")
]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class InvestigatorSettings(_Block):
    """The model that drafts, and the limits of one investigation."""

    model: ModelId = DEFAULT_MODEL
    """Who drafts. A model without a price (see `pricing`) has no spend limit unless you write `budget` yourself."""
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2
    """1: a bounced draft goes to the human at once; 2: it is made anew first, with what was criticised."""
    hard_cap_runtime_min: Annotated[float, Field(gt=0, le=60)] = 5
    """Minutes one run may take, retries included; then it is escalated, or the human is told."""
    stall_s: StallSeconds | None = DEFAULT_STALL_S
    """Seconds a request may be silent; null: no such limit; absent: TRIAGE_STALL_S, then 60."""


class ValidatorSettings(_Block):
    """The model that attacks the draft, and how often it may."""

    model: ModelId | None = None
    """Who attacks the draft; null: the investigator's model."""
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2
    """The smaller of this and `investigator.max_rounds` counts."""


class TokenPrices(_Block):
    """What tokens cost, in US dollars per million."""

    input: UsdPerMillionTokens
    """What it reads."""
    output: UsdPerMillionTokens
    """What it writes, thinking included."""
    cache_read: UsdPerMillionTokens
    """What it reads from the provider's cache."""
    cache_write_5m: UsdPerMillionTokens
    """What is put there for five minutes."""


class PriceSettings(TokenPrices):
    """What a model costs, in US dollars per million tokens."""

    long: TokenPrices | None = None
    """What a call costs whose prompt is longer than `long_above`, all its tokens; null: the same."""
    long_above: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    """How many tokens a prompt may have before `long` counts."""


class BudgetSettings(_Block):
    """What model runs may cost, in US dollars; a run stops before it would exceed it. null: no limit."""

    per_thread_usd: Usd | None = 5.0
    """All runs of one thread together."""
    per_day_usd: Usd | None = 100.0
    """All runs of a UTC day, beats included."""
