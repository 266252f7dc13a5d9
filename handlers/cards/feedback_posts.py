"""Port FeedbackChat over Slack: a message in the thread of a card in the ops channel."""

from __future__ import annotations

from blocks import ids
from blocks.cards.feedback_view import not_helpful_blocks, not_helpful_text
from bot.domain.questions.feedback import Feedback
from bot.domain.threads import ThreadState
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import LINE


class FeedbackPosts:
    """Speaks below cards."""

    def __init__(self, poster: Poster) -> None:
        self._poster = poster

    def is_told(self, state: ThreadState, feedback: Feedback) -> bool:
        """Whether it stands below the card; raises ProviderError."""
        mark = ids.feedback_block_id(feedback.id)
        found = self._poster.standing(str(state.card_channel), str(state.card_ts), {mark}, what="look below the card")
        return mark in found

    def tell(self, state: ThreadState, feedback: Feedback) -> None:
        """Say below the card that a reply did not help; raises ProviderError, Unconfirmed where nobody can tell."""
        self._poster.post(
            str(state.card_channel),
            not_helpful_text(feedback),
            not_helpful_blocks(state, feedback),
            what="tell of a reply that did not help",
            rank=LINE,
            mark=ids.feedback_block_id(feedback.id),
            thread_ts=str(state.card_ts),
        )
