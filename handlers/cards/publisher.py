"""Publishes one card for one stored thing: posted once, changed in place, found again after a crash.

If no place is stored, the card is looked for by its mark (the id of its first block), and only then posted. What Slack
refuses is decided here, for every kind of card:

    the card is gone, or not ours to change   posted anew while somebody has to decide on it, else it stays away
    its blocks are too long or not valid      shortened, and says so; an error for a card that must be whole
    the channel is gone or closed to us       ProviderError: the operator must act
    too fast, or Slack is down                Unavailable: the same works later

All raise Unconfirmed where nobody can tell whether a card was posted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from slack_sdk.models.blocks import Block

from bot.errors import ProviderError
from handlers.transport.poster import Poster
from handlers.transport.rate_limits import CARD
from handlers.transport.slack_clients import PATIENCE_S

log = logging.getLogger(__name__)

GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
"""Slack's words for a message that can be changed no more."""


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


def publish(
    poster: Poster,
    channel: str,
    card: Card,
    *,
    at: MessageRef | None = None,
    recorded_at: datetime | None = None,
    since: float | None = None,
) -> MessageRef:
    """Bring a card in line where it stands, or post it in `channel`; return where it stands then.

    Args:
        at: Where it stands, as far as is on file.
        recorded_at: When what it shows was first on file; None where it was looked for already, or never can be.
        since: The Slack time after which it was posted; by default that of `recorded_at`.

    Raises:
        PostInFlight: it stands nowhere, and may yet come.
    """
    if at is None and recorded_at is not None and card.mark is not None:
        what = f"look for {card.name}"
        found = poster.find(channel, card.mark, what=what, recorded_at=recorded_at, since=since)
        at = MessageRef.on_file(channel, found)
    if at is not None and (update(poster, at, card) or not card.is_waiting):
        return at
    what = f"post {card.name}"
    answer = poster.post(channel, card.text, card.blocks, what=what, rank=CARD, mark=card.mark, whole=card.is_whole)
    return MessageRef(channel, str(answer["ts"]))


def update(poster: Poster, at: MessageRef, card: Card, *, patience_s: float = PATIENCE_S, spare: int = 0) -> bool:
    """Change a card in place; False if it is there no more.

    `patience_s` and `spare` are those of `RateLimiter.wait_turn`: one that is put off is shown by who asked for it.
    """
    what = f"update {card.name}"
    try:
        poster.update(*at, card.text, card.blocks, what=what, whole=card.is_whole, patience_s=patience_s, spare=spare)
    except ProviderError as error:
        if error.code not in GONE:
            raise
        log.info("%s is gone: %s", card.name, error.code, extra={"action": "card_gone"})
        return False
    return True


def keep_first(poster: Poster, posted: MessageRef, card: Card, *, since: float) -> MessageRef:
    """Return the one card that stays where another process posted the same in the same moment: the older one.

    Where that can be changed no more, the card is posted again, for somebody has to decide on it.
    """
    try:
        marked = poster.marked(posted.channel, str(card.mark), what="look for a second card", since=since)
        first = min(marked, key=float, default=posted.ts)
        if float(first) >= float(posted.ts):
            return posted
        poster.delete(*posted, what="delete the second card")
    except ProviderError:
        log.warning("a second card may stand", extra={"action": "second_card"}, exc_info=True)
        return posted
    older = MessageRef(posted.channel, first)
    return older if update(poster, older, card) else publish(poster, posted.channel, card)
