"""What model runs cost: the prices of tokens, and a meter that refuses a call which may exceed the run's limit.

Default prices are the vendor's list prices; `pricing` in triage.yml overrides them. A model without a price counts at
the dearest known one, and its usage says so. Every attempt is counted, also one that was cut off; the worst case of a
call is reserved before it is made.
Source: https://platform.claude.com/docs/en/about-claude/pricing, read on 2026-11-28.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from bot.agent.model_run import SpendLimitReached
from bot.domain.returns import Usage, total_usage

CACHE_WRITE_FACTOR: Final = 1.25
"""What writing a token to the cache for five minutes costs, in prices of an ordinary one."""

_PER_TOKEN: Final = 1_000_000
_BARE_ID: Final = re.compile(r"claude-[a-z0-9-]{1,60}")
_DATED: Final = re.compile(r"[-@]20\d{6}(?:-v\d{1,3})?$")
_REVISION: Final = re.compile(r"-v\d{1,3}$")

_BYTES_PER_TOKEN: Final = 4
IMAGE_TOKENS: Final = 5_000
"""The most that one image is: 4,784.  Source: https://platform.claude.com/docs/en/build-with-claude/vision"""

_MARGIN: Final = 1.3
"""How much more tokens a text may be than its UTF-8 bytes / 4."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens.

    A call whose prompt has more than `long_above` tokens costs `long` for all its tokens, where that is set.
    """

    input: float
    output: float
    cache_read: float
    long: Price | None = None
    long_above: int = 100_000

    def cost_usd(self, usage: Usage) -> float:
        """Return what one call with these tokens costs.

        >>> Price(4, 20, 0.2).cost_usd(Usage(input_tokens=1_000_000, output_tokens=100_000))
        6.0
        >>> Price(4, 20, 0.2, long=Price(8, 30, 0.4)).cost_usd(Usage(input_tokens=1_000_000))
        8.0
        """
        price = self._for(usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens)
        return (
            usage.input_tokens * price.input
            + usage.output_tokens * price.output
            + usage.cache_read_tokens * price.cache_read
            + usage.cache_write_tokens * price.input * CACHE_WRITE_FACTOR
        ) / _PER_TOKEN

    def _for(self, prompt_tokens: int) -> Price:
        return self.long if self.long is not None and prompt_tokens > self.long_above else self

    @property
    def dearness(self) -> tuple[float, float, float]:
        """What models are compared by: the prices of their dearest tokens, those they write before those they read."""
        dearest = max(filter(None, (self, self.long)), key=lambda tier: tier.output)
        return dearest.output, dearest.input, dearest.cache_read

    def worst_usd(self, input_tokens: int, output_tokens: int) -> float:
        """Return the most that a call with so many tokens can cost: nothing read from the cache, all written to it."""
        price = self._for(input_tokens)
        return (input_tokens * price.input * CACHE_WRITE_FACTOR + output_tokens * price.output) / _PER_TOKEN


Prices = Mapping[str, Price]

DEFAULT_PRICES: Final[Prices] = MappingProxyType(
    {
        "claude-opus-5-5": Price(4, 20, 0.2),
        "claude-sonnet-5-5": Price(2, 10, 0.1),
        "claude-haiku-5-5": Price(0.1, 0.5, 0.01, long=Price(0.5, 2.5, 0.05)),
        "claude-fable-5-2": Price(8, 40, 0.2),
        **dict.fromkeys(("claude-fable-5-1", "claude-mythos-5-1"), Price(10, 50, 0.25)),
        **dict.fromkeys(("claude-fable-5", "claude-mythos-5"), Price(10, 50, 1)),
        **dict.fromkeys((f"claude-opus-{version}" for version in ("5", "4-8", "4-7", "4-6", "4-5")), Price(5, 25, 0.5)),
        "claude-sonnet-5": Price(2, 10, 0.2),
        **dict.fromkeys(("claude-sonnet-4-6", "claude-sonnet-4-5"), Price(3, 15, 0.3)),
        "claude-haiku-4-5": Price(1, 5, 0.1),
    }
)


def with_overrides(overrides: Mapping[str, Price]) -> Prices:
    """Return the defaults with a team's own prices over them, by model id."""
    return {**DEFAULT_PRICES, **overrides}


def bare_model_id(model: str) -> str:
    """Return a model's own name: clouds put region, vendor and account before it, and a revision behind it.

    >>> bare_model_id("us.anthropic.claude-haiku-4-5-20251001-v1:0"), bare_model_id("claude-opus-5-5")
    ('claude-haiku-4-5-20251001', 'claude-opus-5-5')
    """
    found = _BARE_ID.search(model)
    return _REVISION.sub("", found[0]) if found else model


def known_price(model: str, prices: Prices) -> Price | None:
    """Return the price of a model: by its id, else by its own name, else by that without a date; None if unknown.

    >>> known_price("us.anthropic.claude-haiku-4-5-20251001-v1:0", DEFAULT_PRICES) == Price(1, 5, 0.1)
    True
    """
    bare = bare_model_id(model)
    return prices.get(model) or prices.get(bare) or prices.get(_DATED.sub("", bare))


def dearest_model(prices: Prices) -> str:
    """Return the id of the model whose tokens cost most."""
    return max(prices, key=lambda model: prices[model].dearness)


def is_as_dear(model: str, other: str, prices: Prices) -> bool:
    """Whether tokens of a model cost as much as those of another, or more; without a price the dearest known counts.

    >>> is_as_dear("claude-haiku-4-5", "claude-opus-5-5", DEFAULT_PRICES), is_as_dear("x-1", "x-2", DEFAULT_PRICES)
    (False, True)
    """
    first, second = (known_price(each, prices) or prices[dearest_model(prices)] for each in (model, other))
    return first.dearness[:2] >= second.dearness[:2]


class CostMeter:
    """Counts one run's tokens; `usage` is complete at any moment."""

    def __init__(self, model: str, prices: Prices, *, limit_usd: float | None, max_tokens: int) -> None:
        known = known_price(model, prices)
        self._price, self._is_assumed = known or prices[dearest_model(prices)], known is None
        self._limit_usd, self._max_tokens = limit_usd, max_tokens
        self.usage = Usage()

    def reserve(self, request: Any, *, images: int = 0) -> None:
        """Make sure that the worst case of a call with this content, and so many images, fits what is left.

        Raises:
            SpendLimitReached: it does not; no call may be made.
        """
        if self._limit_usd is None:
            return
        worst = self._price.worst_usd(estimate_tokens(request) + images * IMAGE_TOKENS, self._max_tokens)
        spent = self.usage.cost_usd or 0.0
        if spent + worst > self._limit_usd:
            why = (
                f"the spend limit is reached: ${spent:.3f} spent, the next call may cost ${worst:.3f},"
                f" ${self._limit_usd:.3f} allowed; raise `budget` to let it go on"
            )
            raise SpendLimitReached(why, usage=self.usage)

    def add(self, reported: Any, *, at_least_output: int = 0) -> None:
        """Count one reply's usage as the provider reported it, or the tokens seen of it, if those are more."""
        reply = Usage(
            input_tokens=reported.input_tokens,
            output_tokens=max(reported.output_tokens, at_least_output),
            cache_read_tokens=reported.cache_read_input_tokens or 0,
            cache_write_tokens=reported.cache_creation_input_tokens or 0,
            price_assumed=self._is_assumed,
        )
        cost_usd = self._price.cost_usd(reply)  # each reply by itself: a long prompt has its own price
        self.usage = total_usage(self.usage, reply.model_copy(update={"cost_usd": cost_usd}))


def estimate_tokens(request: Any) -> int:
    """Return a safe upper estimate of how many tokens a request's content is.

    >>> estimate_tokens("x" * 398)
    130
    """
    return math.ceil(
        len(json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")) / _BYTES_PER_TOKEN * _MARGIN
    )
