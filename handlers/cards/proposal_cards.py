"""Port ProposalChat over Slack: a card in the ops channel, updated in place, and one line in the asker's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from slack_sdk import WebClient

from blocks import ids
from blocks.cards.proposal_card import done_text, proposal_blocks, proposal_text
from bot.domain.playbooks.proposals import Proposal
from bot.errors import ProviderError
from handlers.transport.poster import Poster, slack_time, update_message
from handlers.transport.rate_limits import CARD, REPLY
from handlers.transport.slack_clients import translate_slack_errors

DONE_EVENT: Final = "triage_proposal"


class ProposalCards:
    """Speaks in one ops channel and in the threads proposals came from.

    `not_allowed` returns the commands of a proposal's task that may not run.
    """

    def __init__(
        self,
        client: WebClient,
        poster: Poster,
        *,
        ops_channel: str,
        bot_user_id: str,
        not_allowed: Callable[[Proposal], list[str]],
    ) -> None:
        self._client, self._poster = client, poster
        self._ops_channel, self._bot_user_id, self._not_allowed = ops_channel, bot_user_id, not_allowed

    def show(self, proposal: Proposal) -> tuple[str, str]:
        """Post the card, or update it in place; a card somebody deleted is posted anew."""
        text = proposal_text(proposal)
        blocks = proposal_blocks(proposal, not_allowed=self._not_allowed(proposal))
        if proposal.card_channel and proposal.card_ts:
            try:
                place = (proposal.card_channel, proposal.card_ts)
                update_message(self._client, *place, text, blocks, what="update the proposal")
            except ProviderError as error:
                if error.code != "message_not_found":
                    raise
            else:
                return proposal.card_channel, proposal.card_ts
        mark = ids.proposal_block_id(proposal.id)
        answer = self._poster.post(self._ops_channel, text, blocks, what="post the proposal", rank=CARD, mark=mark)
        return self._ops_channel, str(answer["ts"])

    def find(self, proposal: Proposal) -> tuple[str, str] | None:
        """Return where the card stands, if it was posted and nobody knows; raises Unavailable while it may yet come."""
        found = self._poster.find(
            self._ops_channel,
            ids.proposal_block_id(proposal.id),
            what="look for the proposal",
            recorded_at=proposal.at,
            since=slack_time(proposal.at),
        )
        return (self._ops_channel, found) if found is not None else None

    def say_done(self, proposal: Proposal) -> str:
        """Post the line in the asker's thread and return its ts."""
        answer = self._poster.post(
            proposal.chat_id,
            done_text(proposal),
            what="tell the asker",
            rank=REPLY,
            thread_ts=proposal.thread_ts,
            metadata={"event_type": DONE_EVENT, "event_payload": {"proposal": proposal.id}},
        )
        return str(answer["ts"])

    def find_said(self, proposal: Proposal) -> str | None:
        """Return the ts of the line, if it stands in the thread; metadata decides, the text where there is none."""
        with translate_slack_errors("look for what was said"):
            pages = self._client.conversations_replies(
                channel=proposal.chat_id, ts=proposal.thread_ts, include_all_metadata=True, limit=200
            )
            messages = [message for page in pages for message in page.get("messages") or []]
        ours = (m for m in messages if m.get("user") == self._bot_user_id)
        return next((str(m["ts"]) for m in ours if _is_line(m, proposal)), None)


def _is_line(message: dict[str, Any], proposal: Proposal) -> bool:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") == DONE_EVENT:
        return bool(metadata.get("event_payload") == {"proposal": proposal.id})
    since = slack_time(proposal.said_intent) if proposal.said_intent else 0.0
    return message.get("text") == done_text(proposal) and float(message["ts"]) >= since
