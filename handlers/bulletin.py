"""What the ops channel is told unasked: which cards wait, the brief, and the picture of the week (port Pictures)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from blocks.brief import brief_blocks
from blocks.open_drafts import reminder_blocks, reminder_line
from bot.casework.brief import Brief, brief_line
from bot.casework.overview import ThreadLine
from bot.domain.week import Week
from handlers.pacing import LINE
from handlers.posting import Poster


class Bulletin:
    """Posts in one ops channel.

    Each method raises ProviderError if Slack refused it and nothing was posted (Unavailable says when to come back),
    and Unconfirmed if nobody can tell.
    """

    def __init__(self, poster: Poster, *, ops_channel: str, expire_after: timedelta | None) -> None:
        self._poster, self._ops_channel, self._expire_after = poster, ops_channel, expire_after

    def remind(self, waiting: Sequence[ThreadLine], now: datetime) -> None:
        """Name cards that wait; it names questions, so the channel must be private."""
        blocks = reminder_blocks(waiting, now, expire_after=self._expire_after)
        self._poster.post(self._ops_channel, reminder_line(waiting), blocks, what="post the reminder", rank=LINE)

    def say(self, brief: Brief, title: str) -> None:
        """Post a brief; it names questions, so the channel must be private."""
        blocks = brief_blocks(brief, title, may_see_drafts=True)
        self._poster.post(self._ops_channel, brief_line(brief, title), blocks, what="post the brief", rank=LINE)

    def show(self, week: Week) -> None:
        """Draw a week and post it, its numbers in words as alt text."""
        from bot.adapters.week_picture import draw_week  # 12 MB that a bot without briefs does without

        self._poster.upload(
            self._ops_channel,
            draw_week(week),
            filename="week.png",
            title=f"The last 7 days, to {week.until}",
            alt_text=week.in_words(),
            what="post the picture of the week",
            rank=LINE,
        )
