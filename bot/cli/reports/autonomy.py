"""`triage metrics --autonomy`: the case of one team for or against replies without a human; needs no running bot."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from bot.adapters.process.clocks import local_zone
from bot.casework.reports.answers_autonomy import autonomy_answer
from bot.casework.reports.autonomy_metrics import read_case
from bot.casework.reports.journal_history import PastThreads
from bot.cli.arguments import Scope
from bot.cli.data_directory import environment_at, reading
from bot.domain.answers import Answer
from bot.domain.questions.autonomy_record import AutonomyMode


def case_at(scope: Scope, of_team: Path, now: datetime) -> Answer:
    """Return the case of a team; raises ConfigError where triage.yml or the data directory cannot be read."""
    settings, wanted = scope.settings(of_team), scope.settings(of_team).working_hours
    hours = None
    if wanted is not None:
        variables = environment_at(scope.home).variables
        hours = wanted.in_zone(local_zone(variables) if wanted.timezone == "local" else wanted.timezone)
    with reading(of_team) as store:
        case = read_case(store, PastThreads(store), now, AutonomyMode(settings.autonomy), hours)
    return autonomy_answer(case, may_see_drafts=True)
