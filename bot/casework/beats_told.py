"""What heartbeats.ndjson tells of beats, read back for briefs and pictures; writes nothing, needs no running bot.

The journal is the beats' own; here its lines are plain records, and one that cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from bot.casework.past import journal, time_of


class Beat(NamedTuple):
    """One beat that ran; `told` is the beginning of what its owner was told, `beside_ok` of what nobody was."""

    at: datetime
    session_id: str
    told: str
    is_alert: bool
    is_failed: bool
    beside_ok: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Beats:
    """The beats since a time, oldest first; `recorded_since` is the time of the oldest line, whatever it is about."""

    ran: Sequence[Beat] = ()
    recorded_since: datetime | None = None


def read_beats(home: Path, since: datetime, *, last_bytes: int | None = None) -> Beats:
    """Return the beats since then, refused slots aside; `last_bytes` bounds how much is read. Raises OSError."""
    ran, oldest = [], None
    for record in journal(home / "heartbeats.ndjson", last_bytes):
        at = time_of(record.get("ts"))
        if at is None:
            continue
        oldest = at if oldest is None else min(at, oldest)
        if at >= since and record.get("result") != "skipped":
            ran.append(_beat(at, record))
    return Beats(ran=ran, recorded_since=oldest)


def _beat(at: datetime, record: dict[str, Any]) -> Beat:
    result = record.get("result")
    return Beat(
        at=at,
        session_id=str(record.get("session_id") or ""),
        told=str(record.get("preview") or ""),
        is_alert=result == "sent" and record.get("indicator") == "alert",
        is_failed=result == "failed",
        beside_ok=str(record.get("beside_ok") or ""),
    )
