"""`/triage status`: what waits, what runs, when the bot last saw a message."""

from __future__ import annotations

from pathlib import Path

from slack_sdk.models.blocks import Block

from blocks.status import status_blocks
from bot.casework.approvers import Approvers
from bot.casework.overview import overview
from bot.ports import Clock
from handlers.commands import Command
from handlers.commands.typed import Typed


def status_command(home: Path, approvers: Approvers, clock: Clock) -> Command:
    """Return the command; questions are listed for approvers only."""

    def status(typed: Typed) -> list[Block]:
        return status_blocks(overview(home, clock.now()), may_see_drafts=approvers.allow(*typed.who))

    return status
