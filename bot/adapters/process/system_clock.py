"""The operating system's clock, and the name of the machine's time zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name


class SystemClock:
    """Port Clock over the operating system."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


def local_zone(variables: Mapping[str, str]) -> str:
    """Return the IANA name of the machine's zone: that of TZ, else what the system says; "UTC" where neither names one.

    >>> local_zone({"TZ": "Asia/Tokyo"})
    'Asia/Tokyo'
    """
    return next((name for name in (variables.get("TZ", "").removeprefix(":"), _system_zone()) if _exists(name)), "UTC")


def _system_zone() -> str:
    try:
        return get_localzone_name() or ""
    except ZoneInfoNotFoundError:  # the system's files contradict each other
        return ""


def _exists(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name).key)
    except (KeyError, ValueError, OSError):
        return False
