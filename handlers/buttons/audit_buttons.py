"""The button of an audit card."""

from __future__ import annotations

from collections.abc import Mapping

from blocks import ids
from bot.casework.approvers import Approvers
from bot.casework.auto_replies import AutoReplies
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.buttons.draft_buttons import NOT_YOURS


class AuditButtons:
    """The listener; whoever may approve may take back."""

    def __init__(self, auto: AutoReplies, approvers: Approvers, *, say: Say) -> None:
        on = DecisionHandler(approvers, say, read=ids.decode_auto_reply, refusal=NOT_YOURS)
        self.actions: Mapping[str, Listener] = {
            ids.TAKE_BACK: on.decides(lambda click, reply_id: auto.take_back(reply_id, by=click.user))
        }
        self.views: Mapping[str, Listener] = {}
