"""`/triage status`, `metrics`, `review` and `autonomy [arm | disarm]`: how things stand, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.heartbeat_view import message_blocks
from blocks.views.help_view import unknown_verb
from blocks.views.report_views import autonomy_blocks, metrics_blocks, review_blocks, status_blocks
from bot.casework.approvers import Approvers
from bot.casework.posting.auto_replies import ArmingService
from bot.casework.reports.metrics_report import MetricsService
from bot.casework.reports.status_overview import overview
from bot.casework.reports.weekly_review import WeeklyReview
from bot.errors import StoreError
from bot.ports import Clock, Store
from bot.ports.replicas import Replicas
from handlers.commands.casework_commands import ONLY_APPROVERS, WHO_APPROVES
from handlers.commands.dispatcher import Command, TypedCommand, reject_extra_words


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
