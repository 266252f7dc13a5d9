"""Port Messenger over Slack: posts replies, and shows and finds the cards of threads.

Every reply carries a mark made from its question, so that whichever process posted it, it is recognised before
anything is posted again.

Publishes one card for one stored thing: posted once, changed in place, found again after a crash.

If no place is stored, the card is looked for by its mark (the id of its first block), and only then posted. What Slack
refuses is decided here, for every kind of card:

    the card is gone, or not ours to change   posted anew while somebody has to decide on it, else it stays away
    its blocks are too long or not valid      shortened, and says so; an error for a card that must be whole
    the channel is gone or closed to us       ProviderError: the operator must act
    too fast, or Slack is down                Unavailable: the same works later

All raise Unconfirmed where nobody can tell whether a card was posted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_card import CardFacts, card_blocks, card_text, draft_fits, draft_with_marks
from blocks.cards.reply_cards import marked, message_text, preview_message, reply_footer, reply_messages
from blocks.text.message_size import REFUSED_CONTENT
from blocks.text.outgoing_text import escape, with_local_times
from bot.domain.threads import ThreadState, ThreadStatus, hash_draft, reply_mark
from bot.errors import ProviderError, Unavailable
from handlers.transport.poster import Part, Poster
from handlers.transport.rate_limits import CARD, LINE, REPLY, UPDATE_BURST
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


LAST_UPDATE_PATIENCE_S = 3.0
"""How long a closed thread's card waits for its turn: its buttons are dead already."""

MAX_REMEMBERED = 500
"""Long drafts of which is known where they stand; of another one Slack is asked."""


class SlackMessenger:
    """Posts in one ops channel and in the threads that are answered."""

    def __init__(
        self,
        poster: Poster,
        *,
        ops_channel: str,
        bot_user_id: str,
        facts: CardFacts,
        asks_feedback: bool = False,
    ) -> None:
        self._poster, self._ops_channel, self._bot_user_id = poster, ops_channel, bot_user_id
        self._facts, self._asks_feedback = facts, asks_feedback
        self._whole: dict[tuple[str, str, str], str] = {}

    def show_card(
        self, state: ThreadState, *, progress: str | None = None, after: str | None = None
    ) -> tuple[str, str]:
        """Post the thread's card, or update it where it stands or is found; returns `(channel id, ts)`.

        A draft that does not fit is put into the card's thread first. A card that Slack does not take is shortened,
        and says so; at last it is a line with a link, so that the thread's work goes on in any case.

        Raises:
            Unavailable: it stands nowhere, and may yet come; or Slack is away, or asks for patience.
        """
        at = MessageRef.on_file(state.card_channel, state.card_ts) or self._found(state, after)
        try:
            return self._show(state, at, progress, None)
        except ProviderError as error:
            if error.code not in REFUSED_CONTENT:
                raise
            log.warning(
                "Slack refused a card: %s", error.code, extra={"action": "card_refused", "thread_id": state.thread_id}
            )
            return self._show(state, at, progress, error.code)

    def card_digest(self, state: ThreadState) -> str:
        """Return a hash of what the thread's card shows now, where its whole draft stands aside; asks Slack nothing."""
        card = self._card(state, None, None, None)
        shown = json.dumps([card.text, *(block.to_dict() for block in card.blocks)], sort_keys=True)
        return hash_draft(shown)

    def has_card(self, state: ThreadState) -> bool:
        """Whether the card on file still stands; a deleted one with replies below it is a tombstone."""
        try:
            messages = self._poster.thread(str(state.card_channel), str(state.card_ts), what="look for the card")
        except ProviderError as error:
            if error.code == "thread_not_found":
                return False
            raise
        return any(one.get("ts") == state.card_ts and one.get("subtype") != "tombstone" for one in messages)

    def remove_card(self, state: ThreadState) -> None:
        """Delete the card on file; where Slack does not let us, it stays, and the log says so.

        Raises:
            Unavailable: Slack cannot be reached.
        """
        try:
            self._poster.delete(str(state.card_channel), str(state.card_ts), what="delete a card")
        except Unavailable:
            raise
        except ProviderError as error:
            log.warning("%s", error, extra={"action": "card_left", "thread_id": state.thread_id})

    def _show(self, state: ThreadState, at: MessageRef | None, progress: str | None, refused: str | None) -> MessageRef:
        """Show the card; with `refused`, Slack's word for why it did not take the whole one, a short one."""
        # a state is put off rather than waited for; what nobody has to act on leaves half of the room to what they have
        patience_s = 0.0 if state.is_open else LAST_UPDATE_PATIENCE_S
        spare = UPDATE_BURST // 2 if progress is not None or state.is_at_work else 0
        if at is not None:
            card = self._card(_placed(state, at), progress, refused, self._whole_at(state, at, refused))
            if update(self._poster, at, card, patience_s=patience_s, spare=spare) or not card.is_waiting:
                return at
        card = self._card(state, progress, refused, None)
        posted = publish(self._poster, state.card_channel or self._ops_channel, card)
        stands = keep_first(self._poster, posted, card, since=_asked_at(state))
        if (whole_at := self._whole_at(state, stands, refused)) is not None:
            card = self._card(_placed(state, stands), progress, refused, whole_at)
            update(self._poster, stands, card, patience_s=patience_s, spare=spare)
        return stands

    def _card(self, state: ThreadState, progress: str | None, refused: str | None, whole_at: str | None) -> Card:
        blocks = card_blocks(state, self._facts, progress=progress, whole_at=whole_at, refused=refused)
        return Card(
            name="the card",
            text=card_text(state),
            blocks=blocks,
            mark=ids.card_block_id(state.thread_id),
            is_waiting=state.is_open,
            is_whole=refused is None,
        )

    def _whole_at(self, state: ThreadState, at: MessageRef, refused: str | None) -> str | None:
        """Put a waiting draft that its card does not show whole into the card's thread; returns the first one's ts.

        None where the card shows it, or where Slack does not take it: then the card offers no approval.
        """
        if state.status is not ThreadStatus.PENDING_USER or not state.draft_pending:
            return None
        if draft_fits(state, is_short=refused is not None):
            return None
        parts = _preview(state, draft_with_marks(state, state.draft_pending))
        key = (*at, parts[0].mark)
        if key not in self._whole:
            try:
                stand = self._poster.post_series(
                    parts, channel=at.channel, thread_ts=at.ts, what="show the whole draft", rank=CARD
                )
            except Unavailable:
                raise
            except ProviderError:
                log.warning("a whole draft is not shown", extra={"action": "draft_unshown"}, exc_info=True)
                return None
            self._whole[key] = stand[0]
            while len(self._whole) > MAX_REMEMBERED:
                del self._whole[next(iter(self._whole))]
        return self._whole[key]

    def _found(self, state: ThreadState, after: str | None) -> MessageRef | None:
        """Return where the thread's card stands, if it was posted and nobody knows; it is newer than the question.

        A question that is taken up again is older than the card it had before, whose ts is `after`.
        """
        channel = state.card_channel or self._ops_channel
        found = self._poster.find(
            channel,
            ids.card_block_id(state.thread_id),
            what="look for the card",
            recorded_at=state.started_at,
            since=max(_asked_at(state), float(after or 0)),
            by_others=True,
        )
        return MessageRef.on_file(channel, found)

    def post_reply(self, state: ThreadState, text: str) -> str:
        """Post an approved reply in the thread and return its ts; of a long one in several messages the last one's.

        The last message bears the mark by which the reply is found again, so that the whole stands where it is found.

        Raises:
            ProviderError: Slack refused it; nothing was posted.
            Unconfirmed: nobody can tell, or a part stands and the rest is to be sent again.
        """
        messages, draft_hash, what = reply_messages(text), hash_draft(text), "post the reply"
        marks = [ids.reply_block_id(state.thread_id, draft_hash, number) for number in range(1, len(messages))]
        marks.append(f"{reply_mark(state)}:{draft_hash}")
        *earlier, last = (
            Part(mark=mark, text=message_text(blocks), blocks=marked(blocks, mark))
            for mark, blocks in zip(marks, messages, strict=True)
        )
        footer = reply_footer(state, *self._facts.proof(state), asks_feedback=self._asks_feedback)
        last = replace(last, blocks=[*last.blocks, *footer])
        if earlier:
            parts = [*earlier, last]
            return self._poster.post_series(
                parts, channel=state.chat_id, thread_ts=state.thread_ts, what=what, rank=REPLY
            )[-1]
        answer = self._poster.post(
            state.chat_id, last.text, last.blocks, what=what, rank=REPLY, whole=True, thread_ts=state.thread_ts
        )
        return str(answer["ts"])

    def delete_reply(self, state: ThreadState, ts: str) -> None:
        """Delete a reply that was posted beside another one; raises ProviderError where Slack refuses."""
        self._poster.delete(state.chat_id, ts, what="delete the second reply")

    def tell_ops(self, text: str) -> None:
        """Say one line in the ops channel."""
        self._poster.post(self._ops_channel, with_local_times(escape(text)), what="tell the ops channel", rank=LINE)


def _placed(state: ThreadState, at: MessageRef) -> ThreadState:
    return state.evolve(card_channel=at.channel, card_ts=at.ts)


def _asked_at(state: ThreadState) -> float:
    """Return the Slack time after which the card of this state was posted."""
    return max(float(state.original_message_id), float(state.opened_by_message_id or 0))


def _preview(state: ThreadState, draft: str) -> list[Part]:
    """Return the messages of a draft as they stand in the thread of its card."""
    messages, version = reply_messages(draft), state.draft_version
    parts = []
    for number, blocks in enumerate(messages, 1):
        mark = ids.preview_block_id(state.thread_id, version, number)
        shown = preview_message(blocks, mark, number=number, count=len(messages), version=version)
        parts.append(Part(mark=mark, text=message_text(shown), blocks=shown))
    return parts
