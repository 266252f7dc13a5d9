"""Builds the weekly review: the command that shows it, and the schedule that sends it to the team's lead."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.process.clocks import local_zone
from bot.casework.reports.report_schedules import ReviewSchedule
from bot.casework.reports.rollups import Allowance, Rollups
from bot.casework.reports.weekly_review import WeeklyReview, build_review
from bot.composition.shared_services import SharedServices
from bot.domain.hours import ActiveHours
from bot.ports.collections import REVIEWS
from handlers.commands.dispatcher import Command
from handlers.commands.report_commands import review_command
from handlers.review_messages import ReviewMessages


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewServices:
    """The review of the week; `schedule` is ticked."""

    schedule: ReviewSchedule
    command: Command


def build_reviews(on: SharedServices, hours: ActiveHours | None) -> ReviewServices:
    """Return them; nothing is sent by that."""
    settings = on.settings.review

    def build() -> WeeklyReview:
        allow, codebases = Allowance.for_one_look(), [one.id for one in on.code.codebases]
        return build_review(on.storage, Rollups(on.storage), on.clock.now(), codebases, allow=allow)

    lead = ReviewMessages(on.slack.client, on.slack.poster, lead=settings.lead or "", team=on.team)
    zone = local_zone(on.environment.variables) if settings.timezone == "local" else settings.timezone
    stored = on.single(REVIEWS)
    return ReviewServices(
        schedule=ReviewSchedule(on.clock, settings, stored, build=build, send=lead.send, zone=zone, hours=hours),
        command=review_command(build, on.approvers),
    )
