"""The system's clock."""

from datetime import UTC, datetime


class SystemClock:
    """Port Clock over the operating system."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)
