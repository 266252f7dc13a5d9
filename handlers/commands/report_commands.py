"""`/triage metrics`: what is promised, measured over the last seven days.

`/triage status`: what waits, what runs, when the bot last saw a message.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.heartbeat_view import message_blocks
from blocks.views.report_views import metrics_blocks, status_blocks
from bot.casework.approvers import Approvers
from bot.casework.reports.autonomy_metrics import WEEKS
from bot.casework.reports.journal_history import read_past
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import build_metrics
from bot.casework.reports.status_overview import overview
from bot.errors import StoreError
from bot.ports import Clock, Store
from handlers.commands.dispatcher import Command
from handlers.commands.typed_command import TypedCommand

DAYS: Final = 7
READ_BYTES: Final = 32 * 1024 * 1024
"""Of each journal: some 50,000 messages, read in about a second."""


def metrics_command(store: Store, clock: Clock, *, baseline_reply_s: float | None) -> Command:
    """Return the command; it shows counts and no words of anybody, so everybody may ask."""

    def metrics(_: TypedCommand) -> list[Block]:
        now = clock.now()
        try:
            past = read_past(store, now - timedelta(days=7 * WEEKS + 1), last_bytes=READ_BYTES)
        except StoreError as error:
            return message_blocks(str(error))
        return metrics_blocks(build_metrics(past, Window.last(DAYS, now), baseline_reply_s=baseline_reply_s))

    return metrics


def status_command(store: Store, approvers: Approvers, clock: Clock) -> Command:
    """Return the command; questions are listed for approvers only."""

    def status(typed: TypedCommand) -> list[Block]:
        return status_blocks(overview(store, clock.now()), may_see_drafts=approvers.allow(*typed.who))

    return status
