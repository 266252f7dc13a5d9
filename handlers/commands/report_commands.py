"""`/triage metrics`: what is promised, measured over the last seven days.

`/triage review`: what went wrong in them, with links and what to do.

`/triage status`: what waits, what runs, when the bot last saw a message.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from slack_sdk.models.blocks import Block

from blocks.views.heartbeat_view import message_blocks
from blocks.views.report_views import metrics_blocks, status_blocks
from blocks.views.review_view import review_blocks
from bot.casework.approvers import Approvers
from bot.casework.reports.metrics_report import MetricsService
from bot.casework.reports.status_overview import overview
from bot.casework.reports.weekly_review import WeeklyReview
from bot.errors import StoreError
from bot.ports import Clock, Store
from bot.ports.replicas import Replicas
from handlers.commands.dispatcher import Command
from handlers.commands.typed_command import TypedCommand


def metrics_command(service: MetricsService) -> Command:
    """Return the command; it shows counts and no words of anybody, so everybody may ask."""

    def metrics(_: TypedCommand) -> list[Block]:
        try:
            return metrics_blocks(service.report())
        except StoreError as error:
            return message_blocks(str(error))

    return metrics


def status_command(
    store: Store, approvers: Approvers, clock: Clock, codebases: Collection[str], replicas: Replicas | None = None
) -> Command:
    """Return the command; questions and machines are for approvers, of the codebases only `codebases` are named."""

    def status(typed: TypedCommand) -> list[Block]:
        seen = overview(store, clock.now(), codebases, replicas=replicas)
        return status_blocks(seen, may_see_drafts=approvers.allow(*typed.who))

    return status


def review_command(build: Callable[[], WeeklyReview], approvers: Approvers) -> Command:
    """Return the command; everybody sees counts, approvers what they are about."""

    def review(typed: TypedCommand) -> list[Block]:
        try:
            return review_blocks(build(), may_see_drafts=approvers.allow(*typed.who))
        except StoreError as error:
            return message_blocks(str(error))

    return review
