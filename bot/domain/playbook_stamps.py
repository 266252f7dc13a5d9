"""The lines of a playbook's Timestamps section, such as `- Last quick: (never)`. Pure.

Read leniently, for people edit them; a time without a zone, or none at all, counts as never. Written in whole seconds
of UTC, and nothing of the line but the time is replaced.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from bot.domain.tiers import Tier

_STAMP: Final = re.compile(r"(.*?\blast\s+(quick|hourly|daily)\b[^:]*:[*_`]*)(.*)", re.IGNORECASE | re.DOTALL)


def read_stamp(line: str) -> tuple[Tier, datetime | None] | None:
    """Return the tier a line speaks of and its time; None if the line is no stamp.

    >>> read_stamp("- **Last Quick:** 2026-03-01T12:00:00Z")
    (<Tier.QUICK: 'quick'>, datetime.datetime(2026, 3, 1, 12, 0, tzinfo=datetime.timezone.utc))
    >>> read_stamp("- Last daily: (never)"), read_stamp("- At last, quick work")
    ((<Tier.DAILY: 'daily'>, None), None)
    """
    stamp = _STAMP.fullmatch(line)
    return (Tier(stamp[2].lower()), _moment(stamp[3])) if stamp else None


def stamp_line(tier: Tier, at: datetime) -> str:
    """Return a new line for a tier, without its end."""
    return f"- Last {tier}: {_written(at)}"


def restamped(line: str, at: datetime) -> str:
    """Return a stamp's line (without its end) with another time; what stands before and after the time is kept.

    >>> restamped("* Last quick: (never)  <!-- by code -->", datetime(2026, 3, 1, 12, tzinfo=UTC))
    '* Last quick: 2026-03-01T12:00:00Z  <!-- by code -->'
    """
    stamp = _STAMP.fullmatch(line)
    return f"{stamp[1]} {_written(at)}{_after_time(stamp[3])}" if stamp else line


def _written(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.partition("<!--")[0].strip(" \t*_`"))
        return moment.astimezone(UTC) if moment.utcoffset() is not None else None
    except (ValueError, OverflowError):
        return None


def _after_time(text: str) -> str:
    time = text.partition("<!--")[0].rstrip()
    rest = text[len(time) :]
    return rest if time or not rest.strip() else f" {rest.lstrip()}"
