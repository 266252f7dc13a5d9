"""Save note and Remember this: a dialogue with the whole text, and what is submitted is what is kept.

Both stand in the menu of a card, Remember this also among the shortcuts of a message. The dialogue opens before any
request; whoever submits it is checked then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_actions import note_modal
from bot.casework.approvers import Approvers
from bot.casework.notes import Notes, NoteSource
from bot.intake.message_text import read_message
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.clicks import Body, Click

NOT_YOURS = "Only approvers may save notes. Ask somebody in the ops channel, or ask to be added to `approvers`."


class NoteButtons:
    """The listeners; `menu` are those of the card's menu."""

    def __init__(self, notes: Notes, approvers: Approvers, *, say: Say, team: str) -> None:
        self._notes, self._team = notes, team
        on = DecisionHandler(approvers, say, read=ids.decode_note, refusal=NOT_YOURS)
        remember = on.opens(self._of_thread)
        self.menu: Mapping[str, Listener] = {ids.SAVE_NOTE: on.opens(self._proposal), ids.REMEMBER: remember}
        self.actions: Mapping[str, Listener] = {ids.REMEMBER: remember}  # the button of cards of earlier releases
        self.views: Mapping[str, Listener] = {
            ids.SAVE_NOTE_VIEW: on.submits(self._save(is_proposal=True), block=ids.NOTE, check=self._checked),
            ids.REMEMBER_VIEW: on.submits(self._save(is_proposal=False), block=ids.NOTE, check=self._checked),
        }
        self._open_message = on.opens(self._of_message)

    def remember_this(self, ack: Ack, body: Body, client: WebClient) -> None:
        """Open the dialogue on a message that somebody chose the shortcut of."""
        channel, message = body.get("channel") or {}, body.get("message") or {}
        place = ids.MessageValue(self._team, str(channel.get("id")), str(message.get("ts")))
        self._open_message(ack=ack, body=body, action={"value": ids.MESSAGE.encode(place)}, client=client)

    def _proposal(self, click: Click, source: NoteSource) -> View:
        return note_modal(ids.SAVE_NOTE_VIEW, _metadata(click), self._notes.proposed(source.thread_id or ""))

    def _of_thread(self, click: Click, source: NoteSource) -> View:
        return note_modal(ids.REMEMBER_VIEW, _metadata(click), self._notes.of_thread(source.thread_id or ""))

    def _of_message(self, click: Click, _: NoteSource) -> View:
        message: dict[str, Any] = click.body.get("message") or {}
        return note_modal(ids.REMEMBER_VIEW, str(click.value), self._notes.offered(read_message(message)))

    def _checked(self, _: NoteSource, typed: str | None) -> str:
        return self._notes.check_words(typed or "")

    def _save(self, *, is_proposal: bool) -> Callable[[Click, NoteSource, str | None], str]:
        def save(click: Click, source: NoteSource, words: str | None) -> str:
            return self._notes.save(source, words or "", by=click.user, is_proposal=is_proposal)

        return save


def _metadata(click: Click) -> str:
    """Return the value of what was clicked, which says whether that was on App Home."""
    return ids.encode_dialogue(ids.CLICK.decode(click.value), from_home=click.is_from_home)
