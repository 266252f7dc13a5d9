"""What several model runs cost together. Pure."""

from __future__ import annotations

from bot.domain.returns import Usage


def total(*usages: Usage | None) -> Usage:
    """Return the sum; its cost is None (unknown) as soon as one of the costs is.

    >>> total(Usage(input_tokens=3, cost_usd=0.5), None, Usage(output_tokens=2, cost_usd=0.25)).cost_usd
    0.75
    >>> total(Usage(cost_usd=0.5), Usage(input_tokens=3, cost_usd=None)).cost_usd is None
    True
    """
    known = [usage for usage in usages if usage is not None]
    costs = [usage.cost_usd for usage in known if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in known),
        output_tokens=sum(usage.output_tokens for usage in known),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in known),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in known),
        cost_usd=sum(costs) if len(costs) == len(known) else None,
    )
