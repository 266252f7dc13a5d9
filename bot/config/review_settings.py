"""The part of triage.yml called `review`: who is told each week how the week was. Values only."""

from __future__ import annotations

from bot.config.field_types import SettingsBlock, UserId
from bot.config.hours_settings import Day, LocalZone, WindowStart


class ReviewSettings(SettingsBlock):
    """The weekly review as a direct message to the team's lead; nobody is written to until a lead is named."""

    lead: UserId | None = None
    """Who gets it; null: nobody. It quotes questions."""
    day: Day = "mon"
    """The day of the week it is sent on."""
    at: WindowStart = "09:00"
    """When it is sent on that day; outside `working_hours`, at their next start."""
    timezone: LocalZone = "local"
    """Whose clock; `local` is the machine's."""
