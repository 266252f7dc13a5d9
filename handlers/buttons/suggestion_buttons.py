"""The buttons of a suggestion: who may, then the decision; the card shows it at once.

Only approvers and the owner of the session it is for may decide. Whatever the click carries is read as hostile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.suggestion_card import read_modal, reject_modal
from bot.casework.approvers import Approvers
from bot.domain.sharing.suggestions import DecidedBy, Suggestion
from bot.domain.text.sanitize import check_whole
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import Collection
from handlers.answers import Ephemeral, answer
from handlers.cards.suggestion_cards import SuggestionCards
from handlers.clicks import clicking_person
from handlers.dialogues import errors_in, give_back, text_of
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]
NOT_YOURS = "Only approvers and the owner of the session it is for may decide on a suggestion."


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestionActions:
    """What the buttons and the command act on, and who may."""

    sessions: SessionRegistry
    owners: Owners
    store: Collection[Suggestion]
    desk: SuggestionDecisions
    cards: SuggestionCards
    approvers: Approvers

    def require(self, user: str, team: str, suggestion: Suggestion, *, asks: bool) -> None:
        """Return if a user may decide; `asks` asks the chat, else what was last known counts. Raises InputError."""
        require = self.approvers.require if asks else self.approvers.require_probably
        require(user, team, NOT_YOURS, owner=self._claim(user, suggestion))

    def _claim(self, user: str, suggestion: Suggestion) -> str:
        try:
            return self.owners.claim(self.sessions.get(suggestion.to), user)
        except InputError:
            return ""

    def show(self, suggestion: Suggestion) -> None:
        """Bring the card after a decision; where the chat refuses, the next tick does."""
        with suppress(ProviderError):
            self.cards.show(suggestion)


class SuggestionButtons:
    """The listeners of the card; every answer goes to the one who clicked, and to nobody else."""

    def __init__(self, office: SuggestionActions, *, ops_channel: str, tell: Ephemeral) -> None:
        self._office, self._ops_channel, self._tell = office, ops_channel, tell

    def accept(self, ack: Ack, body: Body, action: Body) -> None:
        """Add the task to the session's playbook."""
        ack()
        self._decide(body, action.get("value"), lambda one, by: self._office.desk.accept(one, by))

    def open_read(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Show a quarantined line as data before it can be added."""
        ack()
        self._open(body, client, action.get("value"), read_modal)

    def open_reject(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Ask for a reason before rejecting."""
        ack()
        self._open(body, client, action.get("value"), reject_modal)

    def submit_read(self, ack: Ack, body: Body, view: Body) -> None:
        """Add what somebody has read."""
        ack()
        value = view.get("private_metadata")
        self._decide(body, value, lambda one, by: self._office.desk.accept(one, by, has_read=True))

    def submit_reject(self, ack: Ack, body: Body, view: Body) -> None:
        """Reject it, with the reason if there is one."""
        said = text_of(view, ids.REASON)
        try:
            check_whole(said or "")
        except InputError as error:
            ack(**errors_in(ids.REASON, error))
            return
        ack()
        self._decide(body, view.get("private_metadata"), lambda one, by: self._office.desk.reject(one, by, said), said)

    def _decide(
        self, body: Body, value: object, decide: Callable[[str, DecidedBy], Suggestion], typed: str | None = None
    ) -> None:
        user, team = clicking_person(body)
        try:
            suggestion = self._office.store.get(ids.decode_suggestion(value))
            self._office.require(user, team, suggestion, asks=True)
            self._office.show(decide(suggestion.id, DecidedBy(user, _name(body))))
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            give_back(self._tell, self._ops_channel, user, str(error), typed)

    def _open(self, body: Body, client: WebClient, value: object, build: Callable[[Suggestion], View]) -> None:
        """Open a dialogue without a request before it; the submit asks for good who may."""
        user, team = clicking_person(body)
        try:
            suggestion = self._office.store.get(ids.decode_suggestion(value))
            self._office.require(user, team, suggestion, asks=False)
            if not suggestion.is_waiting:
                raise InputError(f"{suggestion.decided_by_name} {suggestion.status} {suggestion.id} already.")
            with translate_slack_errors("open the dialogue"):
                client.views_open(trigger_id=body["trigger_id"], view=build(suggestion))
        except TriageError as error:
            self._answer(body, str(error))

    def _answer(self, body: Body, text: str) -> None:
        answer(self._tell, self._ops_channel, clicking_person(body)[0], text)


def _name(body: Body) -> str:
    user = body.get("user") or {}
    return str(user.get("name") or user.get("username") or user.get("id") or "somebody")[:80]
