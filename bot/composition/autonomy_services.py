"""Builds automatic replies: the switch, what sends and takes back, and what people see and click of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from bot.casework.auto_replies import ArmingService, AutoReplies
from bot.casework.freshness import StillStands
from bot.casework.replies import Replies
from bot.composition.shared_services import SharedServices
from bot.domain.hours import ActiveHours
from bot.ports.collections import AUTO_REPLIES, AUTONOMY, Collection
from handlers.buttons.audit_buttons import AuditButtons
from handlers.cards.audit_cards import AuditCards
from handlers.commands.autonomy_command import autonomy_command
from handlers.commands.dispatcher import Command


@dataclass(frozen=True, kw_only=True, slots=True)
class AutonomyServices:
    """Replies that no human approved, from the switch to the button."""

    arming: ArmingService
    replies: AutoReplies
    buttons: AuditButtons
    command: Command


def build_autonomy(
    on: SharedServices, replies: Replies, still_stands: StillStands, hours: ActiveHours | None
) -> AutonomyServices:
    """Return them; nothing is armed by that."""
    arming = ArmingService(on.desk, on.storage, on.single(AUTONOMY), hours=hours, process=uuid4().hex, say=on.ops.say)
    chat = AuditCards(on.slack.client, on.slack.poster, on.slack.publisher, ops_channel=on.ops_channel)
    sent = Collection(on.storage.documents, AUTO_REPLIES, on_damage=on.ops.note)
    auto = AutoReplies(on.desk, replies, still_stands, arming, sent, chat)
    return AutonomyServices(
        arming=arming,
        replies=auto,
        buttons=AuditButtons(auto, on.approvers, say=on.say()),
        command=autonomy_command(arming, on.approvers),
    )
