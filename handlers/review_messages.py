"""The review of the week as a direct message, which stands there once however often it is sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from slack_sdk import WebClient

from blocks import ids
from blocks.views.review_view import review_blocks, review_line
from bot.casework.reports.weekly_review import WeeklyReview
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE
from handlers.transport.recipients import open_place

LOOKED_BACK: Final = timedelta(days=1)
"""How far before it was meant to be sent it is looked for: our clock may be ahead of Slack's."""


class ReviewMessages:
    """Writes to one person for one team."""

    def __init__(self, client: WebClient, poster: Poster, *, lead: str, team: str) -> None:
        self._client, self._poster, self._lead, self._team = client, poster, lead, team

    def send(self, review: WeeklyReview, week: str, meant_at: datetime) -> None:
        """Post it unless it stands there; raises ProviderError where it does not, or nobody can tell."""
        mark, what = ids.review_block_id(self._team, week), "send the weekly review"
        channel, since = open_place(self._client, self._lead), (meant_at - LOOKED_BACK).timestamp()
        if self._poster.find(channel, mark, what=what, recorded_at=meant_at, since=since, by_others=True) is None:
            blocks = review_blocks(review, may_see_drafts=True, mark=mark)
            self._poster.post(channel, review_line(review), blocks, what=what, rank=LINE, mark=mark)
