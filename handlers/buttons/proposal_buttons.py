"""The buttons of a proposal: only the session's owner and approvers decide; what a click carries is read as hostile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from slack_bolt import Ack

from blocks import ids
from bot.casework.approvers import Approvers
from bot.errors import TriageError
from bot.heartbeat.playbooks.proposal_service import ProposalService
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import SessionRegistry
from handlers.answers import Ephemeral, answer
from handlers.clicks import clicking_person

log = logging.getLogger(__name__)

Body = dict[str, Any]
NOT_YOURS: Final = "Only approvers and the session's owner may decide this."


class ProposalButtons:
    """The listeners of the card; every answer goes to the one who clicked, and to nobody else."""

    def __init__(
        self,
        proposals: ProposalService,
        sessions: SessionRegistry,
        owners: Owners,
        approvers: Approvers,
        *,
        ops_channel: str,
        tell: Ephemeral,
    ) -> None:
        self._proposals, self._sessions = proposals, sessions
        self._owners, self._approvers = owners, approvers
        self._ops_channel, self._tell = ops_channel, tell

    def accept(self, ack: Ack, body: Body, action: Body) -> None:
        """Carry it out."""
        ack()
        self._answer_with(body, lambda by: self._accept(action.get("value"), body, by))

    def reject(self, ack: Ack, body: Body, action: Body) -> None:
        """Leave everything as it is."""
        ack()

        def rejected(by: str) -> str:
            given, _ = ids.decode_proposal(action.get("value"))
            self._require(body, self._proposals.session_of(given))
            return self._proposals.reject(given, by)

        self._answer_with(body, rejected)

    def choose(self, ack: Ack, body: Body, action: Body) -> None:
        """Say which session it is for."""
        ack()

        def chosen(_: str) -> str:
            given, session_id = ids.decode_proposal((action.get("selected_option") or {}).get("value"))
            self._require(body, session_id)
            self._proposals.choose(given, session_id)
            return ""

        self._answer_with(body, chosen)

    def _accept(self, value: object, body: Body, by: str) -> str:
        given, session_id = ids.decode_proposal(value)
        self._require(body, session_id)
        return self._proposals.accept(given, session_id, by)

    def _require(self, body: Body, session_id: str | None) -> None:
        """Refuse whoever is neither the owner of the proposal's session nor an approver."""
        user, team = clicking_person(body)
        owner = self._owners.claim(self._sessions.get(session_id), user) if session_id else ""
        self._approvers.require(user, team, NOT_YOURS, owner=owner)

    def _answer_with(self, body: Body, work: Callable[[str], str]) -> None:
        try:
            said = work(clicking_person(body)[0])
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            said = str(error)
        if not said:
            return
        answer(self._tell, self._ops_channel, clicking_person(body)[0], said[:1_900])
