"""`triage status`, `triage open` and `triage approve-list`: how things stand, from the data directory alone.

They work beside a running bot and without one, and say what the same commands of Slack say.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from bot.casework.reports.answers import approvers_answer, open_answer, status_answer
from bot.casework.reports.status_overview import overview
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import codebases_at, reading, replicas_at
from bot.cli.options import json_option
from bot.domain.answers import Answer
from bot.intake.presence import connection_state, read_presence


def print_status(scope: Scope, *, as_json: bool) -> int:
    """Print counts and open threads; exit code 0.

    Raises:
        ConfigError: TRIAGE_HOME leads nowhere, or the data directory cannot be read.
    """
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            seen = overview(store, now, codebases_at(of_team, scope.config), replicas=replicas_at(of_team))
            facts = {"home": str(of_team), "connection": connection_state(read_presence(store.machine), now)}
            return status_answer(seen, now, may_see_drafts=True, facts=facts)

    return scope.answer_each(report, as_json=as_json)


@click.command("open")
@json_option
@scoped
def open_command(scope: Scope, as_json: bool) -> int:
    """Print a line for each draft that waits; raises ConfigError where the data directory cannot be read."""
    now = datetime.now(UTC)

    def report(of_team: Path) -> Answer:
        with reading(of_team) as store:
            return open_answer(overview(store, now), now, may_see_drafts=True)

    return scope.answer_each(report, as_json=as_json)


@click.command("approve-list")
@json_option
@scoped
def approve_list_command(scope: Scope, as_json: bool) -> int:
    """Print who is named as an approver; who is in a group or a channel only Slack can say."""
    from bot.casework.approvers import ApproverList  # here: the other commands of this module need no chat

    def report(of_team: Path) -> Answer:
        settings = scope.settings(of_team)
        people = frozenset(one for one in settings.approvers or () if one[:1] in "UW")
        listed = tuple(settings.approvers) if settings.approvers is not None else None
        return approvers_answer(ApproverList(people=people, configured=listed, ops_channel=settings.ops_channel))

    return scope.answer_each(report, as_json=as_json)
