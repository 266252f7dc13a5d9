"""Port ProposalChat over Slack: a card in the ops channel, updated in place, and one line in the asker's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from blocks import ids
from blocks.cards.proposal_card import done_text, proposal_blocks, proposal_text
from bot.domain.playbooks.proposals import Proposal, ProposalStatus
from handlers.cards.publisher import Card, CardPublisher, MessageRef
from handlers.transport.poster import Poster, slack_time
from handlers.transport.rate_limits import REPLY

DONE_EVENT: Final = "triage_proposal"


class ProposalCards:
    """Speaks in one ops channel and in the threads proposals came from.

    `not_allowed` returns the commands of a proposal's task that may not run.
    """

    def __init__(
        self,
        publisher: CardPublisher,
        poster: Poster,
        *,
        ops_channel: str,
        bot_user_id: str,
        not_allowed: Callable[[Proposal], list[str]],
    ) -> None:
        self._publisher, self._poster = publisher, poster
        self._ops_channel, self._bot_user_id, self._not_allowed = ops_channel, bot_user_id, not_allowed

    def show(self, proposal: Proposal) -> tuple[str, str]:
        """Bring the card in line, or post it; returns where it stands."""
        card = Card(
            name="the proposal",
            text=proposal_text(proposal),
            blocks=proposal_blocks(proposal, not_allowed=self._not_allowed(proposal)),
            mark=ids.proposal_block_id(proposal.id),
            is_waiting=proposal.standing is ProposalStatus.OPEN,
        )
        at = MessageRef.on_file(proposal.card_channel, proposal.card_ts)
        return self._publisher.publish(self._ops_channel, card, at=at, recorded_at=proposal.at)

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
        messages = self._poster.thread(proposal.chat_id, proposal.thread_ts, what="look for what was said")
        ours = (m for m in messages if m.get("user") == self._bot_user_id)
        return next((str(m["ts"]) for m in ours if _is_line(m, proposal)), None)


def _is_line(message: dict[str, Any], proposal: Proposal) -> bool:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") == DONE_EVENT:
        return bool(metadata.get("event_payload") == {"proposal": proposal.id})
    since = slack_time(proposal.said_intent) if proposal.said_intent else 0.0
    return message.get("text") == done_text(proposal) and float(message["ts"]) >= since
