"""Records of journals as reports read them: their times, and the latest of them from the end."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from bot.ports import Store

OLD_IN_A_ROW: Final = 200
"""So many records that are too old end the way back: one alone may come from a clock that was set back."""


def recent_records(store: Store, name: str, key: str, since: datetime) -> list[dict[str, Any]]:
    """Return the records of a journal whose time, under `key`, is not before a moment, oldest first.

    The journal is read from its end until `OLD_IN_A_ROW` records are older. Raises StoreError.
    """
    found: list[dict[str, Any]] = []
    older = 0
    for record in store.journal(name).newest_first():
        at = time_of(record.get(key))
        is_wanted = at is not None and at >= since
        older = 0 if is_wanted else older + 1
        if is_wanted:
            found.append(record)
        elif older == OLD_IN_A_ROW:
            break
    return found[::-1]


def time_of(text: object) -> datetime | None:
    """Return an aware time, or None for what is none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
