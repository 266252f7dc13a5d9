"""A week in a few numbers, as it is shown in one picture: counts of each day, one share with its band, one cost. Pure.

Counts only: no question, no finding and no name is in here, so whoever sees the ops channel may see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Counts = tuple[int, int]
"""Of one day: what counts most, and the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DailyCounts:
    """What was counted day by day, oldest first; a day before the record begins is None, which is not nought.

    `main` and `rest` say in words what the two parts of a day's bar come to over the week. `missing` says why there is
    nothing to show at all.
    """

    title: str
    main: str
    rest: str
    note: str
    days: Sequence[Counts | None]
    warns: bool = False
    """Whether the main part is what nobody wants much of."""
    missing: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareWithBand:
    """A share beside the band it is to stay in; `value` is None where there is not enough data to judge it."""

    title: str
    value: float | None
    shown: str
    says: str
    band: tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class WeekCost:
    """What model runs cost, as people read it."""

    shown: str
    says: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WeekSummary:
    """Seven times 24 hours, the last of which ends `until`; `labels` name them, oldest first."""

    until: str
    labels: Sequence[str]
    bars: Sequence[DailyCounts]
    gauge: ShareWithBand
    cost: WeekCost
    uncounted: str = ""
    """What is left out because it is not counted yet."""

    def in_words(self) -> str:
        """Return what the picture shows, for who cannot see it; a few hundred characters."""
        counted = [f"{each.title}: {each.missing or f'{each.main}, {each.rest}; {each.note}'}." for each in self.bars]
        gauge = f"{self.gauge.title}: {self.gauge.shown}, {self.gauge.says}."
        cost, missing = f"Cost: {self.cost.shown}, {self.cost.says}.", f"{self.uncounted.capitalize()}."
        words = [f"The last 7 days, to {self.until}.", *counted, gauge, cost]
        return " ".join([*words, missing] if self.uncounted else words)
