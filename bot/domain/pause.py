"""Somebody has stopped all work that costs money, for as long as they say. Pure."""

from __future__ import annotations

from datetime import datetime

from pydantic import AwareDatetime, BaseModel, ConfigDict


class Pause(BaseModel):
    """Who paused the bot, and since when; as it stands in paused.json."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    by: str
    """The user's id."""
    name: str
    at: AwareDatetime

    def words(self, now: datetime) -> str:
        """Return who and since when, with the day where it is not today.

        >>> from datetime import UTC
        >>> pause = Pause(by="U1", name="ana", at=datetime(2026, 11, 20, 9, 12, tzinfo=UTC))
        >>> pause.words(datetime(2026, 11, 20, 18, tzinfo=UTC)), pause.words(datetime(2026, 11, 21, 18, tzinfo=UTC))
        ('paused by @ana since 09:12 UTC', 'paused by @ana since 20 Nov 09:12 UTC')
        """
        is_today = self.at.date() == now.date()
        return f"paused by @{self.name} since {self.at.strftime('%H:%M' if is_today else '%d %b %H:%M')} UTC"
