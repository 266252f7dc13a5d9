"""`triage eval`: how good drafts, checks and validator are, on questions, planted errors and what people decided.

Nothing is posted. Without `--model` no model is asked, whatever keys there are. Each question leaves its record under
runs/, as `triage investigate` does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.evaluation.calibration import read_history, write_calibration
from bot.casework.evaluation.planted_scores import PlantedScores
from bot.casework.evaluation.question_scores import ask_questions
from bot.casework.evaluation.question_set import KnownQuestion, questions_on_files, read_questions
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import environment_at, settings_at
from bot.cli.evaluation.tables import Evaluation, evaluation_json, render
from bot.cli.investigate.local_investigation import open_sources, question_runner, without_model
from bot.cli.options import FILE, json_option
from bot.cli.search import open_codebases
from bot.composition.codebases import TeamCode
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.model_access import uses_models
from bot.config.environment import process_home
from bot.config.settings import Settings, find_config
from bot.domain.text.humanize import counted
from bot.errors import ConfigError

DRAFTS: Final = 20
"""That get errors planted where no questions are given."""
JUDGED: Final = 4
"""Runs of a validator for a draft: two errors that only it can see, and unharmed, once more with a statement."""
_OFFLINE: Final = "no model asked, search and code checks alone"
_NO_CHANNEL: Final = "C0000000000"


@click.command("eval", help="How good drafts, checks and validator are. Posts nothing, asks no model unless told to.")
@click.option("--questions", type=FILE, metavar="FILE", help="YAML or .ndjson: `ask`, and the `files` that answer")
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: those of triage.yml)")
@click.option("--limit", type=click.IntRange(1, 10_000), metavar="N", help="at most N questions and drafts")
@click.option("--model", is_flag=True, help="ask the configured models; costs money")
@click.option("--calibrate", is_flag=True, help="have cards say what was measured here, once it is enough")
@json_option
@scoped
def command(
    scope: Scope,
    questions: Path | None,
    codebase: Path | None,
    limit: int | None,
    model: bool,
    calibrate: bool,
    as_json: bool,
) -> int:
    """Measure and print.

    Raises:
        ConfigError: the config, the codebase or the file of questions cannot be used, or there is no model to ask.
        InputError: it is not said which team is meant.
        StoreError: the data directory cannot be used.
    """
    if calibrate and codebase is not None:
        raise click.UsageError("--calibrate is about the codebases of triage.yml; leave out --codebase")
    sources = _open(scope, codebase, is_model_asked=model)
    asked = read_questions(questions, sources.code.codebases)[:limit] if questions else None
    done = _measure(sources, asked, drafts=limit or DRAFTS, is_model_asked=model)
    if calibrate:
        tests = done.questions.kinds if done.questions else None
        known = write_calibration(sources.storage.documents, tests, done.history, sources.clock.now(), is_model=model)
        done = replace(done, calibration=known)
    print(evaluation_json(done) if as_json else render(done))
    return 0


def _open(scope: Scope, codebase: Path | None, *, is_model_asked: bool) -> InvestigationInputs:
    """Return what is measured with; `--codebase` needs no triage.yml, but the limits of one that is there hold."""
    environment = environment_at(scope.one_team())
    try:
        find_config(scope.config, process_home(environment.home))
    except ConfigError:
        if scope.config is not None or codebase is None:
            raise
        settings = Settings(codebase=GitRepo(codebase).root, ops_channel=_NO_CHANNEL)
    else:
        settings = settings_at(scope.config, environment.home)
    if is_model_asked and not uses_models(settings, environment):
        raise ConfigError("no model is configured; set ANTHROPIC_API_KEY, or leave out --model")
    code = None
    if codebase is not None:
        members = open_codebases(codebase, environment.home, scope.config)
        code = TeamCode(codebases=members, ids=set(), staleness=CitationStaleness(members), link_to=lambda _: None)
    sources = open_sources(settings, environment, code=code)
    return sources if is_model_asked else without_model(sources)


def _measure(
    sources: InvestigationInputs, asked: Sequence[KnownQuestion] | None, *, drafts: int, is_model_asked: bool
) -> Evaluation:
    """Return all three parts; where no questions were given, errors are planted in `drafts` searches about a file."""
    code = sources.code.codebases
    for one in code:
        one.index.refresh()
    offline = CaseworkModels(without_model(sources))
    hired = CaseworkModels(sources) if is_model_asked else offline
    try:
        described, count = hired.described if is_model_asked else _OFFLINE, drafts if asked is None else len(asked)
        most = 2 * len(asked or ()) + JUDGED * count
        cost = f": about {most} runs of a model at most, each of several calls; Ctrl-C stops" if is_model_asked else ""
        _tell(f"measuring: {described}{cost} …")
        scores = ask_questions(asked, question_runner(hired, sources), say=_tell) if asked is not None else None
        true = scores or ask_questions(questions_on_files(code, drafts), question_runner(offline, sources), say=_tell)
        planted = PlantedScores(code=offline.validator, model=hired.validator if is_model_asked else None)
        for number, state in enumerate(true.right_drafts, 1):
            _tell(f"planting errors in draft {number} of {counted(len(true.right_drafts), 'draft')} …")
            planted.judge_with_errors(state, code)
    finally:
        hired.close()
    return Evaluation(
        investigator=described,
        codebases={one.name: one.repo.head() for one in code},
        questions=scores,
        planted=planted,
        history=read_history(sources.storage),
    )


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
