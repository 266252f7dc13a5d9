"""The buttons of a posted reply: its proof, votes, Take back of an automatic one; the switch of automatic replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.evidence_modal import loading_modal, proof_modal
from blocks.cards.reply_cards import proof_line
from blocks.elements import notice
from blocks.text.outgoing_text import answer_text, section
from bot.casework.approvers import Approvers
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.feedback import FeedbackVotes
from bot.casework.posting.reply_proof import ProofReader, approver_name
from bot.domain.citations.links import LinkTo
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.errors import ProviderError, TriageError
from handlers.answers import Whisper, answer
from handlers.buttons.decision_handler import Body, Click, DecisionHandler, Listener, Say, for_a_person, update_dialogue
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.transport.slack_clients import translate_slack_errors


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


class ProofButton:
    """The listener of Show proof: a dialogue opens at once, and is filled once it is known what its reader may see."""

    def __init__(self, proofs: ProofReader, link_to: LinkTo, tell: Whisper) -> None:
        self._proofs, self._link_to, self._tell = proofs, link_to, tell
        self.actions: Mapping[str, Listener] = {ids.SHOW_PROOF: self._show}
        self.views: Mapping[str, Listener] = {}

    def _show(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        ack()
        click = Click.of(body, action)
        try:
            with translate_slack_errors("open the dialogue"):
                opened: Any = client.views_open(trigger_id=body["trigger_id"], view=loading_modal())
        except ProviderError as error:
            answer(self._tell, click.channel, click.user, answer_text(for_a_person(error)), click.thread_ts)
            return
        update_dialogue(client, str(opened["view"]["id"]), self._filled(click))

    def _filled(self, click: Click) -> View:
        try:
            part = ids.THREAD_PART.decode(click.value)
            user, team = click.who
            read = self._proofs.read(part.thread_id, part.digest, user=user, team=team, chat_id=click.channel)
            return proof_modal(
                read, proof_line(read.proof, approver_name(read.proof.thread, self._proofs.workspace)), self._link_to
            )
        except TriageError as error:
            return notice("Proof of this reply", [section(answer_text(for_a_person(error)))])


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
