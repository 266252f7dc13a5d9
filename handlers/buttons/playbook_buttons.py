"""The buttons and dialogue of a suggestion for a HEARTBEAT.md. Only approvers and the session's owner decide."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from blocks import ids
from blocks.cards.playbook_cards import reject_modal
from bot.casework.approvers import Approvers
from bot.domain.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.domain.text.sanitize import check_whole
from bot.errors import InputError, ProviderError
from bot.heartbeat.session_registry import Owners
from bot.heartbeat.sharing.suggestion_desk import NOT_YOURS, SuggestionDesk
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.cards.ops_cards import SuggestionCards
from handlers.clicks import Click


class SuggestionButtons:
    """The listeners of the card; `cards` brings it in line after a decision, or at the next tick."""

    def __init__(
        self, desk: SuggestionDesk, owners: Owners, cards: SuggestionCards, approvers: Approvers, *, say: Say
    ) -> None:
        self.cards = cards

        def claim(click: Click, suggestion: Suggestion, asks: bool) -> str:
            with suppress(InputError):  # its session is gone
                return owners.claim(desk.sessions.get(suggestion.to), click.user, asks=asks)
            return ""

        def decide(click: Click, one: Suggestion, status: SuggestionStatus, why: str | None = None) -> None:
            decided = desk.decide(one.id, status, DecidedBy(click.user, click.name), why or "")
            with suppress(ProviderError):
                cards.show(decided)

        on = DecisionHandler(
            approvers,
            say,
            read=lambda value: desk.suggestions.get(ids.decode_suggestion(value)),
            refusal=NOT_YOURS,
            owner=claim,
        )
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_SUGGESTION: on.decides(lambda click, one: decide(click, one, SuggestionStatus.ACCEPTED)),
            ids.REJECT_SUGGESTION: on.opens(lambda _, one: reject_modal(one)),
        }
        self.views: Mapping[str, Listener] = {
            ids.REJECT_VIEW: on.submits(
                lambda click, one, why: decide(click, one, SuggestionStatus.REJECTED, why),
                block=ids.REASON,
                check=lambda _, said: said and check_whole(said),
            ),
        }
