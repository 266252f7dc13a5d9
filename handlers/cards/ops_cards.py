"""The cards in the ops channel that are not drafts: automatic replies and suggestions.

Port AuditChat over Slack. Each card is posted once, updated in place, and shows what is stored. Suggestions are
changed by clicks, by models and by the terminal; a tick updates their cards, so that a crash or an outage only delays
a card.
"""

from __future__ import annotations

import logging
from typing import Final

from blocks import ids
from blocks.cards.playbook_cards import suggestion_blocks, suggestion_text
from blocks.cards.reply_cards import audit_blocks, audit_text, marked, withdrawal_text
from blocks.text.outgoing_text import section
from bot.domain.questions.autonomy_record import AutoReply
from bot.domain.sharing.suggestions import Suggestion
from bot.domain.threads import REPLY_MARK, hash_draft
from bot.errors import ProviderError
from bot.ports.collections import Collection
from handlers.cards.publisher import GONE, Card, MessageRef, publish, update
from handlers.transport.poster import Part, Poster, has_block
from handlers.transport.rate_limits import REPLY

log = logging.getLogger(__name__)

_STAYS: Final = GONE | {"cant_delete_message"}

CARDS_A_TICK: Final = 3
"""Slack takes about one post a second in a channel, and the drafts' cards go there too."""


class AuditCards:
    """Posts in one ops channel and changes replies that were posted."""

    def __init__(self, poster: Poster, *, ops_channel: str) -> None:
        self._poster, self._ops_channel = poster, ops_channel

    def show(self, reply: AutoReply) -> tuple[str, str]:
        """Bring the card in line, or post it; returns where it stands."""
        card = Card(
            name="an automatic reply's card",
            text=audit_text(reply),
            blocks=audit_blocks(reply),
            mark=ids.audit_block_id(reply.id),
        )
        at = MessageRef.on_file(reply.card_channel, reply.card_ts)
        return publish(self._poster, self._ops_channel, card, at=at, recorded_at=reply.at)

    def withdraw(self, reply: AutoReply) -> None:
        """Put the withdrawal in the place of the reply, its mark kept; the other messages of a long one are deleted.

        Where the reply stands and Slack lets nobody change it any more, the withdrawal is posted below it.
        """
        assert reply.posted_message_id is not None
        text, digest = withdrawal_text(reply), hash_draft(reply.reply)
        mark = f"{REPLY_MARK}{reply.id}:{digest}"
        note = Card(name="the reply", text=text, blocks=marked([section(text)], mark), mark=None)
        is_changed = update(self._poster, MessageRef(reply.chat_id, reply.posted_message_id), note)
        thread_ts = reply.thread_id.split(".", 2)[2]
        first = ids.reply_block_id(reply.thread_id, digest, 0).rpartition(":")[0]
        for message in self._poster.thread(reply.chat_id, thread_ts, what="read the thread"):
            if message["ts"] == reply.posted_message_id and not is_changed:
                self._post_below(reply, thread_ts, text)
            elif has_block(message, f"{first}:"):
                self._delete(reply.chat_id, str(message["ts"]))

    def _post_below(self, reply: AutoReply, thread_ts: str, text: str) -> None:
        part = Part(mark=f"withdrawn:{reply.id}", text=text, blocks=marked([section(text)], f"withdrawn:{reply.id}"))
        what = "say that the reply was taken back"
        self._poster.post_series([part], channel=reply.chat_id, thread_ts=thread_ts, what=what, rank=REPLY)

    def _delete(self, channel: str, ts: str) -> None:
        try:
            self._poster.delete(channel, ts, what="take back the reply")
        except ProviderError as error:
            if error.code not in _STAYS:
                raise


class SuggestionCards:
    """Shows suggestions."""

    def __init__(self, poster: Poster, store: Collection[Suggestion], *, ops_channel: str) -> None:
        self._poster, self._store, self._ops_channel = poster, store, ops_channel

    def tick(self) -> None:
        """Bring a few cards up to date; what the chat refuses is tried again."""
        behind = [one for one in self._store.all() if _is_behind(one)]
        for suggestion in behind[:CARDS_A_TICK]:
            try:
                self.show(suggestion)
            except ProviderError:
                log.info("a suggestion's card waits", extra={"action": "suggestion_card_waits"}, exc_info=True)
                return

    def show(self, suggestion: Suggestion) -> None:
        """Bring a suggestion's card in line, or post it.

        Raises:
            ProviderError: Slack refused it.
            StoreError: where it stands cannot be written down; it is found again.
        """
        card = Card(
            name="a suggestion",
            text=suggestion_text(suggestion),
            blocks=suggestion_blocks(suggestion),
            mark=ids.suggestion_block_id(suggestion.id),
            is_waiting=suggestion.is_waiting,
        )
        at = MessageRef.on_file(suggestion.card_channel or self._ops_channel, suggestion.card_ts)
        stands = publish(self._poster, self._ops_channel, card, at=at, recorded_at=suggestion.at)
        self._store.evolve(suggestion.id, card_channel=stands.channel, card_ts=stands.ts, card_shows=suggestion.status)


def _is_behind(suggestion: Suggestion) -> bool:
    """Whether a card is missing or shows something else; a decision is shown once it is carried out."""
    if suggestion.card_shows == suggestion.status:
        return False
    return suggestion.is_waiting or (suggestion.settled_at is not None and suggestion.card_ts is not None)
