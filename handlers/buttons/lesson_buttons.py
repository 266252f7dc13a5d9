"""The buttons about what is kept: a closed card's lesson with its dialogue, and a note whose lines changed.

The dialogue opens before any request, because a trigger expires after 3 s; the submit is where permission is checked
for good.  Source: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient

from blocks import ids
from blocks.cards.lesson_card import remember_modal
from bot.casework.approvers import Approvers
from bot.casework.memory.lesson_notes import LessonNotes
from bot.casework.memory.note_rechecks import NoteRechecks
from bot.domain.memory.rechecks import RecheckOutcome
from bot.errors import TriageError
from handlers.answers import Ephemeral, answer
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.clicks import clicking_person
from handlers.dialogues import errors_in, give_back, text_of
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]


class LessonButtons:
    """The listeners; every answer goes to the one who clicked, and to nobody else."""

    def __init__(
        self, lessons: LessonNotes, rechecks: NoteRechecks, approvers: Approvers, *, ops_channel: str, tell: Ephemeral
    ) -> None:
        self._lessons, self._rechecks, self._approvers = lessons, rechecks, approvers
        self._ops_channel, self._tell = ops_channel, tell

    def open_remember(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Show what would be kept, to be changed."""
        ack()
        try:
            self._approvers.require_probably(*clicking_person(body), NOT_YOURS)
            click = ids.decode_click(action.get("value"))
            view = remember_modal(click, *self._lessons.proposed(click))
            with translate_slack_errors("open the dialogue"):
                client.views_open(trigger_id=body["trigger_id"], view=view)
        except TriageError as error:
            log.info("a dialogue did not open: %s", error, extra={"action": "dialogue_refused"})
            self._answer(body, str(error))
        self._lessons.tick()

    def submit_remember(self, ack: Ack, body: Body, view: Body) -> None:
        """Keep the words as they were submitted; what is wrong with the words alone is said in the dialogue."""
        typed = text_of(view, ids.LESSON)
        try:
            click = ids.decode_click(view.get("private_metadata"))
            if typed is not None:
                self._lessons.check_words(typed)
        except TriageError as error:
            ack(**errors_in(ids.LESSON, error))
            return
        ack()
        try:
            self._approvers.require(*clicking_person(body), NOT_YOURS)
            self._lessons.remember(click, typed, by=clicking_person(body)[0])
        except TriageError as error:
            log.info("a lesson was refused: %s", error, extra={"action": "click_refused"})
            give_back(self._tell, self._ops_channel, clicking_person(body)[0], str(error), typed)
        self._lessons.tick()

    def still_true(self, ack: Ack, body: Body, action: Body) -> None:
        """Have the note cite its lines as the card shows them."""
        ack()
        self._decide(body, action, RecheckOutcome.KEPT)

    def retire(self, ack: Ack, body: Body, action: Body) -> None:
        """Put the note where no search looks."""
        ack()
        self._decide(body, action, RecheckOutcome.RETIRED)

    def _decide(self, body: Body, action: Body, outcome: RecheckOutcome) -> None:
        try:
            self._approvers.require(*clicking_person(body), NOT_YOURS)
            self._rechecks.decide(ids.decode_recheck(action.get("value")), outcome, by=clicking_person(body)[0])
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            self._answer(body, str(error))

    def _answer(self, body: Body, text: str) -> None:
        answer(self._tell, self._ops_channel, clicking_person(body)[0], text)
