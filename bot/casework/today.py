"""What the day has brought and cost so far, read from the journals; works beside a running bot. The day is UTC's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.casework.overview import tail


@dataclass(frozen=True, kw_only=True, slots=True)
class Today:
    """Counts since midnight UTC; `cost_usd` is None where a run had no price, and then nobody can tell."""

    messages: int
    actionable: int
    posted: int
    model_runs: int
    cost_usd: float | None


def today(home: Path, now: datetime) -> Today:
    """Return the day's counts, as far as the journals' last 256 KiB reach; raises ConfigError."""
    heard = _of_day(home / "events-classified.ndjson", "classified_at", now)
    spent = [record.get("cost_usd") for record in _of_day(home / "spend.ndjson", "at", now)]
    known = [cost for cost in spent if isinstance(cost, int | float)]
    return Today(
        messages=len(heard),
        actionable=sum(record.get("classification") == "actionable" for record in heard),
        posted=len(_of_day(home / "replies.ndjson", "posted_at", now)),
        model_runs=len(spent),
        cost_usd=sum(known) if len(known) == len(spent) else None,
    )


def _of_day(path: Path, key: str, now: datetime) -> list[dict[str, Any]]:
    return [record for record in tail(path) if str(record.get(key, "")).startswith(f"{now:%Y-%m-%d}")]
