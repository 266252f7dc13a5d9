"""Posts one card for one stored thing: once, changed in place, found again after a crash.

If no place is stored, the card is looked for by its mark (the id of its first block), and only then posted. What Slack
refuses is decided here, for every kind of card:

    the card is gone, or not ours to change   posted anew while somebody has to decide on it, else it stays away
    its blocks are too long or not valid      shortened, and says so; an error for a card that must be whole
    the channel is gone or closed to us       ProviderError: the operator must act
    too fast, or Slack is down                Unavailable: the same works later
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from bot.errors import ProviderError
from handlers.transport.poster import PATIENCE_S, Poster, shorter_if_refused, slack_time
from handlers.transport.rate_limits import CARD, RateLimiter, rate_limited
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
"""Slack's words for a message that can be changed no more."""

_ALL_CARDS: Final = "chat.update"
"""Slack counts updates for the whole workspace."""


class MessageRef(NamedTuple):
    """Where a message stands."""

    channel: str
    ts: str

    @classmethod
    def on_file(cls, channel: str | None, ts: str | None) -> MessageRef | None:
        """Return what a record says of its card; None where it says nothing."""
        return cls(channel, ts) if channel and ts else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """What is to be shown: `name` completes "Slack could not update …", `text` is for notifications."""

    name: str
    text: str
    blocks: Sequence[Block]
    mark: str | None
    """The id of the first block; None for what is never looked for."""
    is_waiting: bool = True
    """Whether somebody has to decide on it: one that somebody deleted is then posted anew."""
    is_whole: bool = False
    """Whether blocks that Slack refuses are an error, and not shortened."""


class CardPublisher:
    """Posts with `poster` and changes with `client`, at the pace of `updates`.

    Every method raises ProviderError where Slack refuses, Unavailable where the same will work later, and Unconfirmed
    where nobody can tell whether a card was posted.
    """

    def __init__(self, client: WebClient, poster: Poster, updates: RateLimiter) -> None:
        self._client, self._poster, self._updates = client, poster, updates

    def publish(
        self,
        channel: str,
        card: Card,
        *,
        at: MessageRef | None = None,
        recorded_at: datetime | None = None,
        since: float | None = None,
    ) -> MessageRef:
        """Bring the card in line where it stands, or post it in `channel`; returns where it stands then.

        Args:
            at: Where it stands, as far as is on file.
            recorded_at: When what it shows was first on file; None where it was looked for already, or never can be.
            since: The Slack time after which it was posted; by default that of `recorded_at`.

        Raises:
            PostInFlight: it stands nowhere, and may yet come.
        """
        if at is None and recorded_at is not None and card.mark is not None:
            at = self.find(channel, card.mark, name=card.name, recorded_at=recorded_at, since=since)
        if at is not None and (self.update(at, card) or not card.is_waiting):
            return at
        what = f"post {card.name}"
        answer = self._poster.post(
            channel, card.text, card.blocks, what=what, rank=CARD, mark=card.mark, whole=card.is_whole
        )
        return MessageRef(channel, str(answer["ts"]))

    def update(self, at: MessageRef, card: Card, *, patience_s: float = PATIENCE_S, spare: int = 0) -> bool:
        """Change a card in place; False if it is there no more.

        `patience_s` and `spare` are those of `RateLimiter.wait_turn`: one that is put off is shown by who asked for it.
        """
        what = f"update {card.name}"

        def send(blocks: Sequence[Block]) -> None:
            with (
                rate_limited(self._updates, _ALL_CARDS, what, patience_s=patience_s, spare=spare),
                translate_slack_errors(what),
            ):
                self._client.chat_update(channel=at.channel, ts=at.ts, text=card.text, blocks=blocks)

        try:
            send(card.blocks) if card.is_whole else shorter_if_refused(send, card.blocks)
        except ProviderError as error:
            if error.code not in GONE:
                raise
            log.info("%s is gone: %s", card.name, error.code, extra={"action": "card_gone"})
            return False
        return True

    def find(
        self,
        channel: str,
        mark: str,
        *,
        name: str,
        recorded_at: datetime,
        since: float | None = None,
        by_others: bool = False,
    ) -> MessageRef | None:
        """Return where a card stands that was posted and of which nothing is on file; arguments as of `Poster.find`.

        Raises:
            PostInFlight: it stands nowhere, and may yet come.
        """
        since = slack_time(recorded_at) if since is None else since
        what = f"look for {name}"
        found = self._poster.find(channel, mark, what=what, recorded_at=recorded_at, since=since, by_others=by_others)
        return None if found is None else MessageRef(channel, found)

    def keep_first(self, posted: MessageRef, card: Card, *, since: float) -> MessageRef:
        """Return the one card that stays where another process posted the same in the same moment: the older one.

        Where that can be changed no more, the card is posted again, for somebody has to decide on it.
        """
        first = None
        try:
            with translate_slack_errors("look for a second card"):
                first = self._poster.first(posted.channel, str(card.mark), since=since)
            if first is None or float(first) >= float(posted.ts):
                return posted
            with translate_slack_errors("delete the second card"):
                self._client.chat_delete(channel=posted.channel, ts=posted.ts)
        except ProviderError:
            log.warning("a second card may stand", extra={"action": "second_card"}, exc_info=True)
            return posted
        older = MessageRef(posted.channel, first)
        return older if self.update(older, card) else self.publish(posted.channel, card)
