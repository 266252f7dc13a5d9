"""The buttons of a proposal: only the session's owner and approvers decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blocks import ids
from bot.casework.approvers import Approvers
from bot.heartbeat.playbooks.proposal_service import ProposalService
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import SessionRegistry
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.clicks import Click

NOT_YOURS: Final = "Only approvers and the session's owner may decide this."

Given = tuple[str, str]
"""A proposal's id, and the session it is for ("" while none is chosen)."""


class ProposalButtons:
    """The listeners of the card."""

    def __init__(
        self, proposals: ProposalService, sessions: SessionRegistry, owners: Owners, approvers: Approvers, *, say: Say
    ) -> None:
        self._proposals, self._sessions, self._owners = proposals, sessions, owners
        on = DecisionHandler(approvers, say, read=ids.decode_proposal, refusal=NOT_YOURS, owner=self._owner)
        self.views: Mapping[str, Listener] = {}
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_PROPOSAL: on.decides(lambda click, given: proposals.accept(*given, click.user)),
            ids.REJECT_PROPOSAL: on.decides(
                lambda click, given: proposals.reject(given[0], click.user), read=self._on_file
            ),
            ids.CHOOSE_SESSION: on.decides(lambda _, given: proposals.choose(*given)),
        }

    def _on_file(self, value: object) -> Given:
        """Return a proposal with the session it is for by now, whatever its card shows."""
        given, _ = ids.decode_proposal(value)
        return given, self._proposals.session_of(given) or ""

    def _owner(self, click: Click, given: Given, asks: bool) -> str:
        if not given[1]:
            return ""
        session = self._sessions.get(given[1])
        return self._owners.claim(session, click.user) if asks else self._owners.claim_unasked(session, click.user)
