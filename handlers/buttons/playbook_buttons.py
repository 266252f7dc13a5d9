"""The buttons and dialogues of a suggestion for a HEARTBEAT.md. Only approvers and the session's owner decide."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from blocks import ids
from blocks.cards.playbook_cards import read_modal, reject_modal
from bot.casework.approvers import Approvers
from bot.domain.sharing.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.domain.text.sanitize import check_whole
from bot.errors import InputError, ProviderError
from bot.heartbeat.sessions.session_registry import Owners
from bot.heartbeat.sharing.suggestion_answers import NOT_YOURS
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.cards.ops_cards import SuggestionCards
from handlers.clicks import Click


class SuggestionButtons:
    """The listeners of the card; `cards` brings it in line after a decision, or at the next tick."""

    def __init__(
        self,
        decisions: SuggestionDecisions,
        owners: Owners,
        cards: SuggestionCards,
        approvers: Approvers,
        *,
        say: Say,
    ) -> None:
        self.cards = cards

        def claim(click: Click, suggestion: Suggestion, asks: bool) -> str:
            with suppress(InputError):  # its session is gone
                return owners.claim(decisions.sessions.get(suggestion.to), click.user, asks=asks)
            return ""

        def decide(
            click: Click, one: Suggestion, status: SuggestionStatus, why: str = "", *, read: bool = False
        ) -> None:
            decided = decisions.decide(one, status, DecidedBy(click.user, click.name), why, has_read=read)
            with suppress(ProviderError):
                cards.show(decided)

        on = DecisionHandler(
            approvers,
            say,
            read=lambda value: decisions.suggestions.get(ids.decode_suggestion(value)),
            refusal=NOT_YOURS,
            owner=claim,
        )
        accepted, rejected = SuggestionStatus.ACCEPTED, SuggestionStatus.REJECTED
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_SUGGESTION: on.decides(lambda click, one: decide(click, one, accepted)),
            ids.READ_SUGGESTION: on.opens(lambda _, one: read_modal(_waiting(one))),
            ids.REJECT_SUGGESTION: on.opens(lambda _, one: reject_modal(_waiting(one))),
        }
        self.views: Mapping[str, Listener] = {
            ids.READ_VIEW: on.submits(lambda click, one, _: decide(click, one, accepted, read=True)),
            ids.REJECT_VIEW: on.submits(
                lambda click, one, said: decide(click, one, rejected, said or ""),
                block=ids.REASON,
                check=lambda _, said: said and check_whole(said),
            ),
        }


def _waiting(suggestion: Suggestion) -> Suggestion:
    """Return a suggestion that nobody has decided on; raises InputError for another."""
    if not suggestion.is_waiting:
        raise InputError(f"{suggestion.decided_by_name} {suggestion.status} {suggestion.id} already.")
    return suggestion
