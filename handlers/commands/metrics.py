"""`/triage metrics`: what is promised, measured over the last seven days."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.heartbeat_list import said_blocks
from blocks.metrics import metrics_blocks
from bot.casework.measure import Window
from bot.casework.metrics import report
from bot.casework.past import read_past
from bot.casework.unattended import WEEKS
from bot.errors import ConfigError
from bot.ports import Clock
from handlers.commands import Command
from handlers.commands.typed import Typed

DAYS: Final = 7
READ_BYTES: Final = 32 * 1024 * 1024
"""Of each journal: some 50,000 messages, read in about a second."""


def metrics_command(home: Path, clock: Clock, *, baseline_reply_s: float | None) -> Command:
    """Return the command; it shows counts and no words of anybody, so everybody may ask."""

    def metrics(_: Typed) -> list[Block]:
        now = clock.now()
        try:
            past = read_past(home, now - timedelta(days=7 * WEEKS + 1), last_bytes=READ_BYTES)
        except ConfigError as error:
            return said_blocks(str(error))
        return metrics_blocks(report(past, Window.last(DAYS, now), baseline_reply_s=baseline_reply_s))

    return metrics
