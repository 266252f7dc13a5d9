"""What was sent by a process that died, or over a line that broke, may yet arrive. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

IN_FLIGHT: Final = timedelta(seconds=10)
"""How long after it was sent a post may still reach its channel, though whoever sent it cannot tell."""


def may_still_come(sent_at: datetime, now: datetime) -> bool:
    """Whether a post that is not to be found may yet come; a time in the future, a wrong clock's, says nothing.

    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> [may_still_come(now - timedelta(seconds=s), now) for s in (-1, 0, 9, 10)]
    [False, True, True, False]
    """
    return timedelta() <= now - sent_at < IN_FLIGHT
