"""The one form in which sentences for people say a time. Pure.

The terminal shows it as it stands; Slack shows the same moment in the reader's zone (`blocks.times.with_local_times`).
"""

from __future__ import annotations

from datetime import UTC, datetime


def utc_text(at: datetime) -> str:
    """Return a moment to the minute.

    >>> utc_text(datetime(2026, 11, 21, 3, 12, 40, tzinfo=UTC))
    '2026-11-21 03:12 UTC'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
