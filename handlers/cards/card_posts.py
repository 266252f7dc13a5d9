"""Posts beside a thread's card: rings of a page, and messages and files in the card's thread.

Ports PageChat, FeedbackChat and CardFiles over Slack. A ring is a message of its own, because an update of the card
notifies nobody. Each is looked for by its mark before it is posted, so that a crash after the post, a restored backup
or a second process does not post it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.page_notice import (
    LISTED_AT_MOST,
    escalation_blocks,
    notice_text,
    ring_blocks,
    rings_blocks,
    rings_text,
)
from blocks.cards.reply_cards import not_helpful_blocks, not_helpful_text
from blocks.text.outgoing_text import escape
from bot.domain.questions.feedback import Feedback
from bot.domain.threads import ThreadState
from bot.ports import PageRing
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import CARD, LINE
from handlers.transport.slack_clients import Members, send_to_each


class PagePosts:
    """Posts in one ops channel; `pages` returns the users and groups a ring mentions, or `channel`."""

    def __init__(
        self, poster: Poster, *, ops_channel: str, pages: Callable[[], Sequence[str]], members: Members
    ) -> None:
        self._poster, self._ops_channel, self._pages, self._members = poster, ops_channel, pages, members

    def ring(self, rings: Sequence[PageRing]) -> None:
        """Ring in the ops channel; raises ProviderError if Slack refused it or nobody can tell."""
        due = [each for each in rings if not self._stands(self._ops_channel, each.state, _mark(each))]
        for start in range(0, len(due), LISTED_AT_MOST):
            self._ring_together(due[start : start + LISTED_AT_MOST])

    def _ring_together(self, rings: Sequence[PageRing]) -> None:
        state, number, waited = rings[0]
        if len(rings) == 1:
            text, blocks = notice_text(state, waited), ring_blocks(state, self._pages(), number=number, waited=waited)
        else:
            text, blocks = rings_text(rings), rings_blocks(rings, self._pages())
        marks = tuple(map(_mark, rings))
        self._poster.post(self._ops_channel, text, blocks, what="ring again", rank=CARD, mark=marks)

    def escalate(self, state: ThreadState, to: str, *, waited: timedelta) -> None:
        """Tell who comes next; of a group it was told if one of its members was. Raises ProviderError."""
        mark, text = ids.page_block_id(state, None), notice_text(state, waited)
        blocks = escalation_blocks(state, waited=waited)
        send_to_each(to, self._members, lambda one: self._post(self._poster.open_place(one), state, mark, text, blocks))

    def _post(self, channel: str, state: ThreadState, mark: str, text: str, blocks: Sequence[Block]) -> None:
        """Post a notice unless it stands in the channel."""
        if not self._stands(channel, state, mark):
            self._poster.post(channel, text, blocks, what="ring again", rank=CARD, mark=mark)

    def _stands(self, channel: str, state: ThreadState, mark: str) -> bool:
        """Whether a notice stands in a channel since the question was asked; raises ProviderError."""
        since = max(float(state.original_message_id), float(state.opened_by_message_id or 0))
        found = self._poster.find(
            channel, mark, what="look for a page", recorded_at=state.started_at, since=since, by_others=True
        )
        return found is not None


def _mark(ring: PageRing) -> str:
    return ids.page_block_id(ring.state, ring.number)


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


class SlackCardFiles:
    """Posts files; `require_private` raises where the ops channel is not private any more."""

    def __init__(self, poster: Poster, require_private: Callable[[], None]) -> None:
        self._poster, self._require_private = poster, require_private

    def show(self, state: ThreadState, *, filename: str, title: str, text: str, said: str) -> None:
        """Post a file below a thread's card, with a line above it."""
        if state.card_channel is None or state.card_ts is None:
            return
        self._require_private()
        self._poster.upload(
            state.card_channel,
            text.encode("utf-8", "replace"),
            filename=filename,
            title=title,
            alt_text=title,
            what="post a file below the card",
            thread_ts=state.card_ts,
            initial_comment=escape(said),
        )
