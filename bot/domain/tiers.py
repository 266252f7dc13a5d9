"""Which tier of a playbook is due. Pure.

Quick is due at every beat, hourly 60 minutes after its stamp, daily 24 hours after. A stamp that is missing,
unreadable or in the future never holds a tier back: doubt means more attention, not less.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Tier(StrEnum):
    """How often a task is done; the value is what is written to disk and typed by operators."""

    QUICK = "quick"
    HOURLY = "hourly"
    DAILY = "daily"


PERIODS: Final = MappingProxyType({Tier.HOURLY: timedelta(minutes=60), Tier.DAILY: timedelta(hours=24)})
"""How long a tier's stamp holds it back; quick has none."""


@dataclass(frozen=True)
class Stamps:
    """When each tier last succeeded; None: never, or unreadable. Raises ValueError for a time without a zone."""

    quick: datetime | None = None
    hourly: datetime | None = None
    daily: datetime | None = None

    def __post_init__(self) -> None:
        for tier in Tier:
            stamp = self.stamp_of(tier)
            if stamp is not None and stamp.utcoffset() is None:
                raise ValueError(f"the stamp of the {tier} tier has no zone")

    def stamp_of(self, tier: Tier) -> datetime | None:
        """Return one tier's stamp."""
        return {Tier.QUICK: self.quick, Tier.HOURLY: self.hourly, Tier.DAILY: self.daily}[tier]


def due_tier(stamps: Stamps, now: datetime) -> Tier:
    """Return the highest tier that is due; it includes all lower ones. Raises ValueError if `now` is naive.

    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> due_tier(Stamps(noon, noon - timedelta(minutes=60), noon - timedelta(hours=23)), noon)
    <Tier.HOURLY: 'hourly'>
    """
    if now.utcoffset() is None:
        raise ValueError(f"{now!r} has no zone; what is due cannot be told")
    due = [tier for tier, period in PERIODS.items() if _is_due(stamps.stamp_of(tier), now, period)]
    return due[-1] if due else Tier.QUICK


def includes(tier: Tier) -> tuple[Tier, ...]:
    """Return a tier and all lower ones, lowest first.

    >>> includes(Tier.HOURLY)
    (<Tier.QUICK: 'quick'>, <Tier.HOURLY: 'hourly'>)
    """
    tiers = tuple(Tier)
    return tiers[: tiers.index(tier) + 1]


def _is_due(stamp: datetime | None, now: datetime, period: timedelta) -> bool:
    if stamp is None:
        return True
    # In UTC: two times of one zone subtract by the wall clock, an hour off where the clocks changed in between.
    age = now.astimezone(UTC) - stamp.astimezone(UTC)
    return age < timedelta(0) or age >= period
