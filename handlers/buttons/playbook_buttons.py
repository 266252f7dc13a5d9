"""The buttons and dialogues of a suggestion for a HEARTBEAT.md. Only approvers and the session's owner decide."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from blocks import ids
from blocks.cards.playbook_cards import read_modal, reject_modal
from bot.casework.approvers import Approvers
from bot.domain.sharing.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.domain.text.sanitize import check_whole
from bot.errors import InputError, ProviderError
from bot.heartbeat.sessions.session_registry import Owners, SessionRegistry
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import Collection
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.cards.ops_cards import SuggestionCards
from handlers.clicks import Click

NO_SUGGESTION_OF_YOURS = "Only approvers and the owner of the session it is for may decide on a suggestion."


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestionActions:
    """What the buttons and the command act on, and who may."""

    sessions: SessionRegistry
    owners: Owners
    store: Collection[Suggestion]
    decisions: SuggestionDecisions
    cards: SuggestionCards
    approvers: Approvers

    def require(self, user: str, team: str, suggestion: Suggestion) -> None:
        """Return if a user may decide, asked of the chat now; raises InputError."""
        self.approvers.require(user, team, NO_SUGGESTION_OF_YOURS, owner=self.claim(user, suggestion, asks=True))

    def claim(self, user: str, suggestion: Suggestion, *, asks: bool) -> str:
        """Return a user if the session it is for is theirs, else ""."""
        try:
            session = self.sessions.get(suggestion.to)
        except InputError:
            return ""
        return self.owners.claim(session, user, asks=asks)

    def decide(
        self,
        click: Click,
        suggestion: Suggestion,
        status: SuggestionStatus,
        why: str | None = None,
        *,
        has_read: bool = False,
    ) -> None:
        """Decide, and bring the card in line; where the chat refuses, the next tick does."""
        by = DecidedBy(click.user, click.name)
        decided = self.decisions.decide(suggestion, status, by, why or "", has_read=has_read)
        with suppress(ProviderError):
            self.cards.show(decided)


class SuggestionButtons:
    """The listeners of the card."""

    def __init__(self, suggestions: SuggestionActions, *, say: Say) -> None:
        on = DecisionHandler(
            suggestions.approvers,
            say,
            read=lambda value: suggestions.store.get(ids.decode_suggestion(value)),
            refusal=NO_SUGGESTION_OF_YOURS,
            owner=lambda click, one, asks: suggestions.claim(click.user, one, asks=asks),
        )
        accepted, rejected, decide = SuggestionStatus.ACCEPTED, SuggestionStatus.REJECTED, suggestions.decide
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_SUGGESTION: on.decides(lambda click, one: decide(click, one, accepted)),
            ids.READ_SUGGESTION: on.opens(lambda _, one: read_modal(_waiting(one))),
            ids.REJECT_SUGGESTION: on.opens(lambda _, one: reject_modal(_waiting(one))),
        }
        self.views: Mapping[str, Listener] = {
            ids.READ_VIEW: on.submits(lambda click, one, _: decide(click, one, accepted, has_read=True)),
            ids.REJECT_VIEW: on.submits(
                lambda click, one, said: decide(click, one, rejected, said),
                block=ids.REASON,
                check=lambda _, said: said and check_whole(said),
            ),
        }


def _waiting(suggestion: Suggestion) -> Suggestion:
    """Return a suggestion that nobody has decided on; raises InputError for another."""
    if not suggestion.is_waiting:
        raise InputError(f"{suggestion.decided_by_name} {suggestion.status} {suggestion.id} already.")
    return suggestion
