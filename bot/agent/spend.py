"""What a run has cost, and whether it can afford one more call.

Every attempt is counted, also one that was cut off. A call's worst case is set aside before it is made, so a limit is
never exceeded: it is refused instead.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from bot.agent.prices import Price
from bot.agent.run import SpendLimitReached
from bot.domain.returns import Usage
from bot.domain.usage import total

_BYTES_PER_TOKEN: Final = 4
_MARGIN: Final = 1.3
"""How much more tokens a text may be than its UTF-8 bytes / 4."""


class Meter:
    """Counts one run's tokens; `usage` is complete at any moment."""

    def __init__(self, model: str, price: Price | None, *, limit_usd: float | None, max_tokens: int) -> None:
        self._model, self._price = model, price
        self._limit_usd, self._max_tokens = limit_usd, max_tokens
        self.usage = self._priced(Usage())

    def reserve(self, request: Any) -> None:
        """Make sure that the worst case of a call with this content fits what is left.

        Raises:
            SpendLimitReached: it does not, or nobody knows what the model costs; no call may be made.
        """
        if self._limit_usd is None:
            return
        if self._price is None:
            why = f"no price is known for {self._model}, so its spend limit cannot be kept; add it to `pricing`"
            raise SpendLimitReached(why, usage=self.usage)
        worst = self._price.worst_usd(estimate_tokens(request), self._max_tokens)
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
        )
        self.usage = total(self.usage, self._priced(reply))  # each reply by itself: a long prompt has its own price

    def _priced(self, usage: Usage) -> Usage:
        return usage.model_copy(update={"cost_usd": self._price.cost_usd(usage) if self._price else None})


def estimate_tokens(request: Any) -> int:
    """Return a safe upper estimate of how many tokens a request's content is.

    >>> estimate_tokens("x" * 398)
    130
    """
    return math.ceil(
        len(json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")) / _BYTES_PER_TOKEN * _MARGIN
    )
