"""Answers clicks on cards of earlier versions whose feature was removed: nothing is done, and the person is told.

Each button has a sentence in `REMOVED`: what is gone and what to do instead. The card is then shown without its
buttons. What such a button carries is not read.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from slack_bolt import Ack
from slack_sdk.models.blocks import ActionsBlock, Block

from blocks import ids
from bot.errors import ProviderError
from handlers.buttons.decision_handler import Listener, Say
from handlers.cards.publisher import Card, CardPublisher, MessageRef
from handlers.clicks import Body, Click

log = logging.getLogger(__name__)

_NOTE_CARDS: Final = (
    "triage no longer asks about notes whose cited lines changed, so this click did nothing. Such a note says so "
    "itself wherever it is found. To put it away, type `triage files retire memory/<name>.md` in the terminal."
)

REMOVED: Final[Mapping[str, str]] = {
    ids.STILL_TRUE: _NOTE_CARDS,
    ids.RETIRE: _NOTE_CARDS,
}
"""What is told to whoever clicks, by the action id of the button."""


class RemovedButtons:
    """The listeners."""

    def __init__(self, publisher: CardPublisher, *, say: Say) -> None:
        self._publisher, self._say = publisher, say
        self.actions: Mapping[str, Listener] = {name: self._listener(said) for name, said in REMOVED.items()}
        self.views: Mapping[str, Listener] = {}

    def _listener(self, said: str) -> Listener:
        def listener(ack: Ack, body: Body, action: Body) -> None:
            ack()
            click = Click.of(body, action)
            self._say(click, said)
            self._remove_buttons(click)

        return listener

    def _remove_buttons(self, click: Click) -> None:
        """Show the clicked card without its buttons; where Slack refuses, the card stays as it is."""
        message, at = click.body.get("message") or {}, MessageRef.on_file(click.channel, click.message_ts)
        blocks = [one for one in Block.parse_all(message.get("blocks") or []) if not isinstance(one, ActionsBlock)]
        if at is None or not blocks:
            return
        card = Card(name="the card", text=str(message.get("text") or ""), blocks=blocks, mark=None)
        try:
            self._publisher.update(at, card)
        except ProviderError:
            log.info("an old card keeps its buttons", extra={"action": "removed_buttons_stay"}, exc_info=True)
