"""`triage investigate`: one investigation at the terminal, or, with `--escalation`, the long run of a thread.

Neither talks to Slack or takes the lock of the data directory, so both work beside a running bot.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click
from click import get_current_context as this_command

from bot.agent.codebases import Codebase
from bot.agent.run_records import RunRecorder
from bot.agent.specialist import Budget
from bot.casework.investigate.assignment import Investigator
from bot.casework.investigate.code_findings import CodeFindings
from bot.casework.investigate.program_investigator import ProgramInvestigator
from bot.casework.long_run import EscalationFolder, EscalationRequest, harness_environment, run_escalation
from bot.cli.arguments import Scope
from bot.cli.local_investigation import (
    failure_json,
    findings_json,
    investigate_locally,
    open_any_sources,
    open_sources,
    render,
)
from bot.cli.options import FILE, config_option, json_option, team_option
from bot.composition.investigators import CaseworkModels
from bot.config.environment import Environment, read_environment
from bot.config.model_settings import BudgetSettings
from bot.config.settings import Settings
from bot.domain.secrets import redact
from bot.domain.text.sanitize import has_visible
from bot.errors import TriageError
from bot.ports.collections import SPEND


@click.command("investigate", help="Look into one question, check the draft, and print it. Posts nothing.")
@click.argument("question", default="", help="what somebody might ask in a channel")
@team_option
@config_option
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: those of triage.yml)")
@json_option
@click.option(
    "--escalation", type=FILE, metavar="DIR", help="carry out the request in this folder (the bot starts this)"
)
def command(
    question: str, team: str | None, config: Path | None, codebase: Path | None, as_json: bool, escalation: Path | None
) -> int:
    """Investigate; exit code 0 if the draft passed (or the long run answered), else 1.

    Raises:
        ConfigError: the config or the environment cannot be used.
        UsageError: nothing was asked.
    """
    if escalation is not None:
        return _long_run(EscalationFolder(escalation.absolute()))
    if not has_visible(question):
        example = 'triage investigate "How are sessions signed?"'
        raise click.UsageError(f"there is no question; ask one, as in `{example}`", this_command())
    sources = open_any_sources(Scope(None, team, config), codebase)
    question = redact(question)
    try:
        findings = investigate_locally(question, sources, say=_to_stderr)
    except TriageError as error:
        if as_json:
            print(failure_json(question, error))
        raise
    print(findings_json(findings) if as_json else render(findings, sources.environment.home))
    return 0 if findings.validation.passed else 1


def _long_run(folder: EscalationFolder) -> int:
    """Carry out a thread's long run; its variables are those it was started with, and no file's."""
    environment = read_environment()
    with ExitStack() as at_end:
        answered = run_escalation(
            folder,
            lambda request: _make_investigator(folder, request, environment, at_end),
            lambda line: print(line, flush=True),
            secrets=environment.secrets(),
        )
    return 0 if answered else 1


def _make_investigator(
    folder: EscalationFolder, request: EscalationRequest, environment: Environment, at_end: ExitStack
) -> tuple[Investigator, RunRecorder]:
    """Return who does it: the configured harness, else the ordinary investigator with more time."""
    sources = open_sources(_within(request), environment, is_long=True)
    command = request.settings.escalation.command
    if command is None:
        models = CaseworkModels(sources)
        at_end.callback(models.close)
        return models.investigator, models.runs
    spending = Budget(sources.storage.journal(SPEND), sources.clock)

    def harness(codebase: Codebase) -> Investigator:
        return ProgramInvestigator(
            command=command,
            folder=folder.path,
            repo=codebase.repo,
            environment=harness_environment(environment, request.settings),
            limit_s=request.settings.escalation.time_limit_min * 60,
            screen=sys.stdout,
            on_cost=spending.record,
            notes=sources.storage.notes,
            secrets=environment.secrets(),
        )

    chosen = CodeFindings(sources.code.codebases, within=harness)
    return chosen, RunRecorder(sources.storage.runs, sources.clock, environment.secrets())


def _within(request: EscalationRequest) -> Settings:
    """Return the settings with the share that was set aside for this run as its only limit of money."""
    spent, share = request.assignment.spent_usd, request.spend_usd
    budget = BudgetSettings(per_thread_usd=None if share is None else spent + share, per_day_usd=None)
    return request.settings.model_copy(update={"budget": budget})


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
