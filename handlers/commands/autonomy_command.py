"""`/triage autonomy [arm | disarm]`: the case for or against automatic replies, and the switch."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.autonomy_view import autonomy_blocks
from blocks.views.heartbeat_view import message_blocks
from blocks.views.help_view import unknown_verb
from bot.casework.approvers import Approvers
from bot.casework.auto_replies import ArmingService
from handlers.commands.casework_commands import ONLY_APPROVERS, WHO_APPROVES
from handlers.commands.dispatcher import Command
from handlers.commands.typed_command import TypedCommand, reject_extra_words

NAME: Final = "autonomy"


def autonomy_command(arming: ArmingService, approvers: Approvers) -> Command:
    """Return the command; everybody sees the figures, approvers what they are about."""

    def autonomy(typed: TypedCommand) -> list[Block]:
        verb = typed.line.word(1)
        if not verb:
            return autonomy_blocks(arming.case(), may_see_drafts=approvers.allow(*typed.who))
        if verb not in ("arm", "disarm"):
            return unknown_verb(NAME, verb)
        approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)
        reject_extra_words(f"{NAME} {verb}", typed.line.words[2:])
        switch = arming.arm if verb == "arm" else arming.disarm
        return message_blocks(switch(by=typed.user_id))

    return autonomy
