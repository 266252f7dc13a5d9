"""Clock times as each reader's Slack shows them: in the reader's own zone.

Pure. A token is made here, after all foreign text beside it was escaped; `escape` would show it as text.
Source: https://docs.slack.dev/messaging/formatting-message-text#date-formatting
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_OURS: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]*>|^>[^\n]*$"  # code, Slack's tokens, quotations: they stay as they are
    r"|(?<![\w:.-])(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_FORM: Final = "{date_short_pretty} {time}"


def local_time(at: datetime) -> str:
    """Return a moment as the reader's clock shows it, today as a word; where Slack cannot, in UTC.

    >>> local_time(datetime(2026, 11, 21, 3, 12, tzinfo=UTC))
    '<!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>'
    """
    return f"<!date^{int(at.timestamp())}^{_FORM}|{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC>"


def with_local_times(mrkdwn: str) -> str:
    """Return a sentence of ours, escaped already, whose times (`2026-11-21 03:12 UTC`) are the reader's.

    The sentences that Slack and the terminal share say each time in that one form (`bot.domain.moments.utc_text`).
    What is no time stays as it stands, and so does what is quoted, or stands in code, where Slack shows no token.

    >>> with_local_times("paused since 2026-11-21 03:12 UTC")
    'paused since <!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>'
    """
    return _OURS.sub(_local, mrkdwn)


def _local(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    try:
        return local_time(datetime.fromisoformat(found[1]).replace(tzinfo=UTC))
    except (ValueError, OverflowError, OSError):
        return found[0]
