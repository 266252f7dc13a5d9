"""Who of several people is on duty: each in turn for the same length of time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True, slots=True)
class Rota:
    """People in their order, how long each is on duty, and when the first one's first turn began."""

    people: Sequence[str]
    every: timedelta
    since: datetime

    def on_duty(self, at: datetime) -> str:
        """Return who is on duty at a moment; before `since` the turns are counted backwards.

        >>> from datetime import UTC
        >>> start = datetime(2026, 1, 5, tzinfo=UTC)
        >>> rota = Rota(people=("U1", "U2"), every=timedelta(days=7), since=start)
        >>> [rota.on_duty(start + timedelta(days=days)) for days in (0, 6, 7, 14, -1)]
        ['U1', 'U1', 'U2', 'U1', 'U2']
        """
        return self.people[(at - self.since) // self.every % len(self.people)]
