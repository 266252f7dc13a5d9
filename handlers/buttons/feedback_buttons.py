"""The two buttons under a posted reply; anyone who sees them may vote."""

from __future__ import annotations

from collections.abc import Mapping

from slack_bolt import Ack

from blocks import ids
from bot.casework.feedback import FeedbackVotes
from bot.errors import TriageError
from handlers.answers import Whisper, whisper_answer
from handlers.buttons.decision_handler import Listener, for_a_person
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
            whisper_answer(self._tell, click.channel, click.user, said, click.thread_ts)

        return listener
