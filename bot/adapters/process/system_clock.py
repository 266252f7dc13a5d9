"""The system's clock.

The IANA name of the machine's time zone: TZ, else what /etc/localtime points to, else what /etc/timezone says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo


class SystemClock:
    """Port Clock over the operating system."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


def local_zone(variables: Mapping[str, str], etc: Path = Path("/etc")) -> str:
    """Return the zone's name; "UTC" where the machine names none.

    >>> local_zone({"TZ": "Asia/Tokyo"})
    'Asia/Tokyo'
    """
    return next((name for name in _candidates(variables, etc) if _exists(name)), "UTC")


def _candidates(variables: Mapping[str, str], etc: Path) -> Iterator[str]:
    yield variables.get("TZ", "").removeprefix(":")
    with suppress(OSError):  # a copy, or missing
        yield str((etc / "localtime").readlink()).rpartition("/zoneinfo/")[2]
    with suppress(OSError, UnicodeDecodeError):
        yield (etc / "timezone").read_text(encoding="utf-8").strip()


def _exists(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name).key)
    except (KeyError, ValueError, OSError):
        return False
