"""Questions in direct messages with the bot: the draft in place for an approver, a line for anybody else.

Whoever may not approve sees nothing of a draft: they are told once who reads it first, and the reply comes into their
direct messages after the approval. A guest is told once in each thread who may ask, and nothing is looked into.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from bot.casework.approvers import Approvers
from bot.domain.events import Event, is_direct
from bot.domain.threads import ThreadState, reply_id_of
from bot.errors import ProviderError, Unavailable
from bot.ports import DirectChat

log = logging.getLogger(__name__)

SEEN_FIRST: Final = (
    "I am looking into it. The approvers{team} see your question and read the draft first; the reply comes here."
)

MEMBERS_ONLY: Final = (
    "Only members of this workspace can ask me, and you are a guest, so nothing was looked into. Ask a member to put "
    "your question to me: in a direct message, or in a channel that I watch."
)
TURNED_AWAY: Final = "guest"


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
            said = SEEN_FIRST.format(team=f" of {self.team}" if self.team else "")
            self.chat.tell(state.chat_id, state.thread_ts, said, about=reply_id_of(state))

    def turn_away(self, event: Event) -> None:
        """Tell a guest in direct messages who may ask, once a thread; elsewhere they hear nothing.

        Raises Unavailable where the chat is away.
        """
        log.info("ignored a guest's message", extra={"action": "guest_ignored"})
        if not event.is_direct:
            return
        try:
            self.chat.tell(event.chat_id, event.thread_id or event.message_id, MEMBERS_ONLY, about=TURNED_AWAY)
        except Unavailable:
            raise
        except ProviderError:
            log.warning("a guest was not answered", extra={"action": "answer_failed"}, exc_info=True)

    def follow(self, state: ThreadState) -> None:
        """Show natively whether somebody is on it; a chat that has no such sign shows none."""
        if not is_direct(state.chat_id) or state.is_at_work == (state.thread_id in self._working):
            return
        (self._working.add if state.is_at_work else self._working.discard)(state.thread_id)
        try:
            self.chat.show_working(state, is_working=state.is_at_work)
        except ProviderError:
            log.info("a native status is not shown", extra={"action": "status_unshown"}, exc_info=True)
