"""I have it and Hand to…: checks who may act, then who has the thread; the card is updated at once."""

from __future__ import annotations

from collections.abc import Mapping

from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.incoming_alert import hand_over_modal
from bot.casework.approvers import Approvers
from bot.casework.decisions import DraftClick
from bot.casework.hand_overs import HandOvers
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.clicks import Click, text_of


class HandOverButtons:
    """The listeners; the dialogue opens at once, and is filled with whom it offers then."""

    def __init__(self, hand_overs: HandOvers, approvers: Approvers, *, say: Say) -> None:
        self._hand_overs = hand_overs
        on = DecisionHandler(approvers, say, read=ids.decode_dialogue, refusal=NOT_YOURS)
        opened = on.opens(lambda click, one: hand_over_modal(one, from_home=click.is_from_home), fill=self._filled)
        self.actions: Mapping[str, Listener] = {
            ids.HAVE_IT: on.decides(lambda click, one: hand_overs.take(one, by=click.user)),
            ids.HAND_TO: opened,
        }
        self.views: Mapping[str, Listener] = {
            ids.HAND_VIEW: on.submits(self._hand, block=ids.OTHER),
        }

    def _filled(self, click: Click, one: DraftClick) -> View:
        return hand_over_modal(one, self._hand_overs.choices(one), from_home=click.is_from_home)

    def _hand(self, click: Click, one: DraftClick, chosen: str | None) -> str:
        """Hand it to the person that was named, else to what was chosen from the list."""
        return self._hand_overs.hand(one, text_of(click.view, ids.PERSON) or chosen or "", by=click.user)
