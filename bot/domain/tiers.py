"""Which tier of a playbook is due, and which tasks should stand in another one. Pure.

Quick is due at every beat, hourly 60 minutes after its stamp, daily 24 hours after. A stamp that is missing,
unreadable or in the future never holds a tier back: doubt means more attention, not less.

Of moves code only proposes: a task that keeps taking too long for its tier goes a tier slower. Who acts on it is the
session's agent, or its owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from bot.domain.frozen_value import FrozenValue

IN_A_ROW: Final = 3
KEPT_TASKS: Final = 200


class Tier(StrEnum):
    """How often a task is done; the value is what is written to disk and typed by operators."""

    QUICK = "quick"
    HOURLY = "hourly"
    DAILY = "daily"


PERIODS: Final = MappingProxyType(
    {Tier.QUICK: timedelta(0), Tier.HOURLY: timedelta(minutes=60), Tier.DAILY: timedelta(hours=24)}
)
"""How long a tier's stamp holds it back."""


@dataclass(frozen=True)
class Stamps:
    """When each tier last succeeded; None: never, or unreadable. Each has a zone."""

    quick: datetime | None = None
    hourly: datetime | None = None
    daily: datetime | None = None

    def stamp_of(self, tier: Tier) -> datetime | None:
        """Return one tier's stamp."""
        stamp: datetime | None = getattr(self, tier)
        return stamp


def due_at(stamps: Stamps, tier: Tier, now: datetime) -> datetime:
    """Return from when on a tier is due, also as part of a higher one; `now` at the earliest, in UTC.

    Raises:
        ValueError: `now` is naive.
    """
    if now.utcoffset() is None:
        raise ValueError(f"{now!r} has no zone; what is due cannot be told")
    # In UTC: two times of one zone subtract by the wall clock, an hour off where the clocks changed in between.
    at, waits = now.astimezone(UTC), list[timedelta]()
    for each in tuple(Tier)[len(includes(tier)) - 1 :]:
        stamp = stamps.stamp_of(each)
        age = at - stamp.astimezone(UTC) if stamp else PERIODS[each]
        waits.append(PERIODS[each] - age if age >= timedelta(0) else timedelta(0))
    return at + max(min(waits), timedelta(0))


def due_tier(stamps: Stamps, now: datetime) -> Tier:
    """Return the highest tier that is due; it includes all lower ones. Raises ValueError if `now` is naive.

    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> due_tier(Stamps(noon, noon - timedelta(minutes=60), noon - timedelta(hours=23)), noon)
    <Tier.HOURLY: 'hourly'>
    """
    return [tier for tier in Tier if due_at(stamps, tier, now) <= now][-1]


def includes(tier: Tier) -> tuple[Tier, ...]:
    """Return a tier and all lower ones, lowest first.

    >>> includes(Tier.HOURLY)
    (<Tier.QUICK: 'quick'>, <Tier.HOURLY: 'hourly'>)
    """
    tiers = tuple(Tier)
    return tiers[: tiers.index(tier) + 1]


LIMITS_S: Final = MappingProxyType({Tier.QUICK: 10.0, Tier.HOURLY: 60.0})
"""How long a task's commands may take in a tier; daily may be thorough."""


class TaskHistory(FrozenValue):
    """How long the commands of one task took in the latest good beats of one tier, newest last; `IN_A_ROW` at most."""

    text: str
    tier: Tier
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TierMove:
    """A task that should stand in the next tier, and what was measured."""

    task_id: str
    from_tier: Tier
    to_tier: Tier
    why: str


def add_measured(history: Mapping[str, TaskHistory], seen: Mapping[str, TaskHistory]) -> dict[str, TaskHistory]:
    """Return the history after a good beat in which `seen` was measured, by task; the newest `KEPT_TASKS` are kept.

    What a task took in another tier is forgotten.
    """
    known = {task_id: past for task_id, past in history.items() if task_id not in seen}
    for task_id, new in seen.items():
        past = history.get(task_id)
        earlier = past.seconds if past is not None and past.tier is new.tier else ()
        known[task_id] = new.evolve(seconds=(*earlier, *new.seconds)[-IN_A_ROW:])
    return dict(list(known.items())[-KEPT_TASKS:])


def suggested_moves(history: Mapping[str, TaskHistory]) -> tuple[TierMove, ...]:
    """Return what should stand in the next slower tier.

    >>> slow = TaskHistory(text="Tests: `make test`", tier=Tier.QUICK, seconds=(4.0, 31.0, 28.5, 30.0))
    >>> [(move.from_tier.value, move.to_tier.value, move.why) for move in suggested_moves({"a1b2c3d4": slow})]
    [('quick', 'hourly', 'took 31 s, 28 s, 30 s in the last checks; quick tasks stay under 10 s')]
    """
    moves = []
    for task_id, past in history.items():
        last, limit = past.seconds[-IN_A_ROW:], LIMITS_S.get(past.tier)
        if limit is not None and len(last) == IN_A_ROW and min(last) > limit:
            took = ", ".join(f"{seconds:.0f} s" for seconds in last)
            why = f"took {took} in the last checks; {past.tier} tasks stay under {limit:.0f} s"
            slower = tuple(Tier)[tuple(Tier).index(past.tier) + 1]
            moves.append(TierMove(task_id=task_id, from_tier=past.tier, to_tier=slower, why=why))
    return tuple(moves)
