"""The buttons of a posted reply: votes, Take back of an automatic one, and its lesson."""

from __future__ import annotations

from collections.abc import Mapping

from slack_bolt import Ack
from slack_sdk import WebClient

from blocks import ids
from blocks.cards.draft_actions import remember_modal
from blocks.text.outgoing_text import answer_text
from bot.casework.approvers import Approvers
from bot.casework.decisions import DraftClick
from bot.casework.memory.lesson_notes import LessonNotes
from bot.casework.posting.auto_replies import AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.errors import TriageError
from handlers.answers import Whisper, answer
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say, for_a_person
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.clicks import Body, Click


class FeedbackButtons:
    """The listeners; a vote is on file before Slack hears that the click arrived."""

    def __init__(self, votes: FeedbackVotes, tell: Whisper) -> None:
        self._votes, self._tell = votes, tell
        self.actions: Mapping[str, Listener] = {
            ids.HELPFUL: self._listener(is_helpful=True),
            ids.NOT_HELPFUL: self._listener(is_helpful=False),
        }
        self.views: Mapping[str, Listener] = {}

    def _listener(self, *, is_helpful: bool) -> Listener:
        def listener(ack: Ack, body: Body, action: Body) -> None:
            click = Click.of(body, action)
            try:
                said = self._votes.vote(*ids.decode_feedback(click.value), by=click.user, is_helpful=is_helpful)
            except TriageError as error:
                said = for_a_person(error)
            ack()
            answer(self._tell, click.channel, click.user, answer_text(said), click.thread_ts)

        return listener


class AuditButtons:
    """The listener; whoever may approve may take back."""

    def __init__(self, auto: AutoReplies, approvers: Approvers, *, say: Say) -> None:
        on = DecisionHandler(approvers, say, read=ids.decode_auto_reply, refusal=NOT_YOURS)
        self.actions: Mapping[str, Listener] = {
            ids.TAKE_BACK: on.decides(lambda click, reply_id: auto.take_back(reply_id, by=click.user))
        }
        self.views: Mapping[str, Listener] = {}


class LessonButtons:
    """The listeners."""

    def __init__(self, lessons: LessonNotes, approvers: Approvers, *, say: Say) -> None:
        self._lessons = lessons
        lesson = DecisionHandler(approvers, say, read=ids.decode_click, refusal=NOT_YOURS)
        self._open = lesson.opens(lambda _, draft: remember_modal(draft, *lessons.proposed(draft)))
        self._submit = lesson.submits(self._remember, block=ids.LESSON, check=self._checked)
        self.actions: Mapping[str, Listener] = {ids.REMEMBER: self._open_remember}
        self.views: Mapping[str, Listener] = {ids.REMEMBER_VIEW: self._submit_remember}

    def _open_remember(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Show what would be kept, to be changed; where it is kept already the card says so at once."""
        self._open(ack, body, action, client)
        self._lessons.tick()

    def _submit_remember(self, ack: Ack, body: Body, view: Body) -> None:
        """Keep the words as they were submitted, and show it on the card."""
        self._submit(ack, body, view)
        self._lessons.tick()

    def _checked(self, _: DraftClick, typed: str | None) -> str | None:
        if typed is not None:
            self._lessons.check_words(typed)
        return typed

    def _remember(self, click: Click, draft: DraftClick, typed: str | None) -> None:
        self._lessons.remember(draft, typed, by=click.user)
