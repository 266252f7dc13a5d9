"""Port AuditChat over Slack: a card in the ops channel for each automatic reply, and the reply's withdrawal."""

from __future__ import annotations

from slack_sdk import WebClient

from blocks import ids
from blocks.cards.audit_card import audit_blocks, audit_text, withdrawal_text
from blocks.cards.draft_card import marked
from blocks.text.outgoing_text import section
from bot.domain.questions.auto_reply import AutoReply
from bot.domain.threads import REPLY_MARK, hash_draft
from bot.errors import ProviderError
from handlers.cards.publisher import GONE, Card, CardPublisher, MessageRef
from handlers.transport.poster import Poster
from handlers.transport.slack_clients import translate_slack_errors


class AuditCards:
    """Speaks in one ops channel and changes replies where they stand."""

    def __init__(self, client: WebClient, poster: Poster, publisher: CardPublisher, *, ops_channel: str) -> None:
        self._client, self._poster, self._publisher, self._ops_channel = client, poster, publisher, ops_channel

    def show(self, reply: AutoReply) -> tuple[str, str]:
        """Bring the card in line, or post it; returns where it stands."""
        card = Card(
            name="an automatic reply's card",
            text=audit_text(reply),
            blocks=audit_blocks(reply),
            mark=ids.audit_block_id(reply.id),
        )
        at = MessageRef.on_file(reply.card_channel, reply.card_ts)
        return self._publisher.publish(self._ops_channel, card, at=at, recorded_at=reply.at)

    def withdraw(self, reply: AutoReply) -> None:
        """Put the withdrawal in the place of the reply, its mark kept; the other messages of a long one are deleted."""
        assert reply.posted_message_id is not None
        text, digest = withdrawal_text(reply), hash_draft(reply.reply)
        mark = f"{REPLY_MARK}{reply.id}:{digest}"
        note = Card(name="the reply", text=text, blocks=marked([section(text)], mark), mark=None)
        self._publisher.update(MessageRef(reply.chat_id, reply.posted_message_id), note)
        thread_ts = reply.thread_id.split(".", 2)[2]
        first = ids.reply_block_id(reply.thread_id, digest, 0).rpartition(":")[0]
        for message in self._poster.thread(reply.chat_id, thread_ts, what="read the thread"):
            if any(str(block.get("block_id")).startswith(f"{first}:") for block in message.get("blocks") or []):
                self._delete(reply.chat_id, str(message["ts"]))

    def _delete(self, channel: str, ts: str) -> None:
        try:
            with translate_slack_errors("take back the reply"):
                self._client.chat_delete(channel=channel, ts=ts)
        except ProviderError as error:
            if error.code not in GONE:
                raise
