"""When a page that nobody acknowledged rings again, and when somebody else is told. Pure.

The same for what a heartbeat found and for a question. Nobody's phone rings for ever, and a clock that was set back
neither silences a page nor holds up its escalation.
"""

from __future__ import annotations

import operator
from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import AwareDatetime, Field

from bot.domain.frozen_value import FrozenValue

AGAIN_AFTER: Final = timedelta(minutes=15)
"""How long a page waits before it rings again, where triage.yml says nothing."""

MAX_RINGS: Final = 20
"""How often a page rings again."""

CHANCES: Final = 2
"""After so many rings, or as much time, `then` is told; the rings count where the clock was set back."""


class Paging(FrozenValue):
    """What became of a question that pages."""

    since: AwareDatetime | None = None
    """When it became a page, where that was later than it was asked: nobody was told of it then."""
    said: str | None = None
    """The words that made it a page, where those are not the question's own: a later message's."""
    said_by: str | None = None
    """Who wrote them: a Slack user id."""
    rung_at: AwareDatetime | None = None
    """When it last rang again."""
    rings: int = 0
    """How often it rang again."""
    escalated_at: AwareDatetime | None = None
    """When `then` was told, or was found to be a channel that may not be told."""
    escalated_to: str | None = None
    """Who was told: a Slack user, user group or channel id."""
    acknowledged_at: AwareDatetime | None = None
    acknowledged_by: str | None = None
    """Who was the first to deal with it: a Slack user id."""
    times_raised: Annotated[int, Field(exclude_if=operator.not_)] = 0
    """How often it was made a page after it had begun: by a later message, an alert that fires anew, another thread."""

    def raised(self, now: datetime) -> Paging:
        """Return that of a page that begins now: what rang or was told before counts for nothing."""
        return Paging(since=now, times_raised=self.times_raised + 1)

    def raised_again(self, now: datetime, again_after: timedelta | None) -> Paging:
        """Return what becomes of it where the same alarm comes from another thread.

        Whoever acknowledged a page is not rung for it again until it would have rung without them.

        >>> from datetime import UTC
        >>> now, wait = datetime(2026, 3, 1, tzinfo=UTC), timedelta(minutes=15)
        >>> held = Paging(acknowledged_at=now, acknowledged_by="U1", rings=2)
        >>> held.raised_again(now + timedelta(minutes=14), wait) == held
        True
        >>> held.raised_again(now + timedelta(minutes=15), wait).acknowledged_by is None
        True
        """
        at = self.acknowledged_at
        if at is None or again_after is None or timedelta() <= now - at < again_after:
            return self
        return self.raised(now)


def is_ring_due(now: datetime, *, said_at: datetime | None, rings: int, again_after: timedelta | None) -> bool:
    """Whether a page that nobody acknowledged is to ring now.

    `said_at` is when it was last said, None for never; `again_after` None switches rings off.

    >>> from datetime import UTC
    >>> now, wait = datetime(2026, 3, 1, tzinfo=UTC), timedelta(minutes=15)
    >>> [is_ring_due(now, said_at=now - timedelta(minutes=m), rings=1, again_after=wait) for m in (14, 15, -1)]
    [False, True, True]
    """
    if again_after is None or rings >= MAX_RINGS:
        return False
    return said_at is None or not timedelta() <= now - said_at < again_after  # a time in the future is a wrong clock's


def is_escalation_due(now: datetime, *, first_at: datetime, rings: int, again_after: timedelta | None) -> bool:
    """Whether `then` is to be told of a page that nobody acknowledged since `first_at`.

    >>> from datetime import UTC
    >>> now, wait = datetime(2026, 3, 1, tzinfo=UTC), timedelta(minutes=15)
    >>> [is_escalation_due(now, first_at=now - timedelta(minutes=m), rings=0, again_after=wait) for m in (29, 30)]
    [False, True]
    """
    if again_after is None:
        return False
    return rings >= CHANCES or now - first_at >= CHANCES * again_after
