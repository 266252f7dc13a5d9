"""The buttons of a posted reply: votes, and Take back of an automatic one; the switch of automatic replies."""

from __future__ import annotations

from collections.abc import Mapping

from slack_bolt import Ack

from blocks import ids
from blocks.text.outgoing_text import answer_text
from bot.casework.approvers import Approvers
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.domain.questions.autonomy_record import AutonomyMode
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
                voted = ids.THREAD_PART.decode(click.value)
                said = self._votes.vote(voted.thread_id, voted.digest, by=click.user, is_helpful=is_helpful)
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


class TrustButtons:
    """The listener of the switch on App Home, for approvers."""

    def __init__(self, arming: ArmingService, approvers: Approvers, *, say: Say) -> None:
        on = DecisionHandler(approvers, say, read=ids.SWITCH.decode, refusal=NOT_YOURS)
        self.actions: Mapping[str, Listener] = {
            ids.TURN_AUTONOMY: on.decides(lambda click, one: arming.turn(AutonomyMode(one.to), by=click.user))
        }
        self.views: Mapping[str, Listener] = {}
