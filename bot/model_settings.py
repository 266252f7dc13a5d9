"""The part of triage.yml about models: which ones, for how long, for how much.

Values only; bot/settings.py reads them. What is absent takes a default that is safe: limits are on unless switched off.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

DEFAULT_MODEL: Final = "claude-opus-5-5"
DEFAULT_STALL_S: Final = 60.0

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]

MODEL_ID: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:/@-]{2,199}")
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID.pattern}$")]
StallSeconds = Annotated[float, Field(ge=1, le=600)]
Usd = Annotated[float, Field(gt=0, le=100_000)]
UsdPerMillionTokens = Annotated[float, Field(ge=0, le=10_000)]


def _web_address(value: object) -> object:
    good = isinstance(value, str) and value.startswith(("https://", "http://")) and not set(value) & set(" @?#")
    if not good:
        raise ValueError("is no web address; it looks like https://models.example.com, and holds no credentials")
    return value


WebAddress = Annotated[str, BeforeValidator(_web_address)]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InvestigatorSettings(_Block):
    """The model that drafts, and the limits of one investigation."""

    model: ModelId = DEFAULT_MODEL
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2
    hard_cap_runtime_min: Annotated[float, Field(gt=0, le=60)] = 5
    stall_s: StallSeconds | None = DEFAULT_STALL_S
    """Seconds a request may be silent; null: no such limit; absent: TRIAGE_STALL_S, then 60."""


class ValidatorSettings(_Block):
    """The model that attacks the draft (absent: the investigator's), and how often it may."""

    model: ModelId | None = None
    max_rounds: Annotated[int, Field(ge=1, le=2)] = 2


class PriceSettings(_Block):
    """What a model costs, in US dollars per million tokens."""

    input: UsdPerMillionTokens
    output: UsdPerMillionTokens
    cache_read: UsdPerMillionTokens
    cache_write_5m: UsdPerMillionTokens


class BudgetSettings(_Block):
    """What model runs may cost, in US dollars; null: no limit."""

    per_thread_usd: Usd | None = 5.0
    per_day_usd: Usd | None = 100.0
