"""Somebody has stopped all work that costs money, for as long as they say. Pure."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.domain.moments import utc_text


class Pause(BaseModel):
    """Who paused the bot, and since when; as it stands in paused.json."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    by: str
    """The user's id."""
    name: str
    at: AwareDatetime

    def words(self) -> str:
        """Return who and since when.

        >>> from datetime import UTC, datetime
        >>> pause = Pause(by="U1", name="ana", at=datetime(2026, 11, 20, 9, 12, tzinfo=UTC))
        >>> pause.words()
        'paused by @ana since 2026-11-20 09:12 UTC'
        """
        return f"paused by @{self.name} since {utc_text(self.at)}"
