"""`triage brief`: what `/triage brief` answers, from the data directory alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.daily_brief import WINDOW, build_brief
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import reading
from bot.domain.answers import Answer


@click.command("brief")
@scoped
def command(scope: Scope) -> int:
    """Print the brief; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            return brief_answer(build_brief(store, now - WINDOW, now), "Brief", may_see_drafts=True)

    return scope.answer_each(report)
