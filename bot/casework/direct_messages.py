"""Questions in direct messages with the bot: the draft in place for an approver, a line for anybody else.

Whoever may not approve sees nothing of a draft: they are told once who reads it first, and the reply comes into their
direct messages after the approval.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from bot.casework.approvers import Approvers
from bot.domain.events import Event, is_direct
from bot.domain.threads import ThreadState
from bot.errors import ProviderError
from bot.ports import DirectChat

log = logging.getLogger(__name__)

SEEN_FIRST: Final = (
    "I am looking into it. The approvers{team} see your question and read the draft first; the reply comes here."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DirectMessages:
    """Says in direct messages how a question stands; `team` is its name where there are several."""

    approvers: Approvers
    chat: DirectChat
    team: str = ""
    _working: set[str] = field(default_factory=set)

    def card_channel(self, event: Event) -> str | None:
        """Return where the card of a question stands: in the direct messages of an approver; None: the ops channel."""
        return event.chat_id if event.is_direct and self.approvers.allow(event.sender.id, event.team_id) else None

    def begin(self, state: ThreadState) -> None:
        """Tell who asked who reads the draft, once; raises Unavailable where the chat is away."""
        if is_direct(state.chat_id) and state.card_channel != state.chat_id:
            self.chat.tell(state, SEEN_FIRST.format(team=f" of {self.team}" if self.team else ""))

    def follow(self, state: ThreadState) -> None:
        """Show natively whether somebody is on it; a chat that has no such sign shows none."""
        if not is_direct(state.chat_id) or state.is_at_work == (state.thread_id in self._working):
            return
        (self._working.add if state.is_at_work else self._working.discard)(state.thread_id)
        try:
            self.chat.show_working(state, is_working=state.is_at_work)
        except ProviderError:
            log.info("a native status is not shown", extra={"action": "status_unshown"}, exc_info=True)
