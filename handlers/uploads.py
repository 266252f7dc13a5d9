"""Port Pictures: the picture of a week leaves for the ops channel as a file, with its numbers in words as alt text."""

from __future__ import annotations

from bot.domain.week import Week
from handlers.pacing import LINE
from handlers.posting import Poster


class SlackPictures:
    """Posts in one ops channel."""

    def __init__(self, poster: Poster, *, ops_channel: str) -> None:
        self._poster, self._ops_channel = poster, ops_channel

    def show(self, week: Week) -> None:
        """Draw a week and post it.

        Raises:
            ProviderError: Slack refused it; nothing was posted. Unavailable says when to come back.
            Unconfirmed: nobody can tell.
        """
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
