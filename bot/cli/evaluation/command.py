"""`triage eval`: how good drafts, checks and validator are, on questions, planted errors and what people decided.

Nothing is posted. Without `--model` no model is asked, whatever keys there are. Each question leaves its record under
runs/, as `triage investigate` does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import click

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.evaluation.calibration import write_calibration
from bot.casework.evaluation.draft_history import DraftHistory, read_history
from bot.casework.evaluation.planted_errors import cited_lines
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
from bot.domain.returns import EvidenceKind
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState
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
    done = _measure(sources, asked, drafts=limit or DRAFTS, is_model_asked=model, is_own_code=codebase is None)
    if calibrate:
        documents, now = sources.storage.documents, sources.clock.now()
        tests = done.questions.kinds if done.questions else None
        calibration = write_calibration(documents, tests, done.history.kinds, now, is_model=model)
        done = replace(done, calibration=calibration)
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
    sources: InvestigationInputs,
    asked: Sequence[KnownQuestion] | None,
    *,
    drafts: int,
    is_model_asked: bool,
    is_own_code: bool,
) -> Evaluation:
    """Return all three parts; errors are planted in at most `drafts` drafts where no questions were given."""
    code, history = sources.code.codebases, read_history(sources.storage)
    for one in code:
        one.index.refresh()
    with ExitStack() as at_end:
        offline = CaseworkModels(without_model(sources))
        hired = CaseworkModels(sources) if is_model_asked else offline
        at_end.callback(hired.close)
        rounds, described = sources.settings.investigator.max_rounds, hired.described if is_model_asked else _OFFLINE
        most = 2 * rounds * len(asked or ()) + JUDGED * (len(asked) if asked is not None else drafts)
        cost = f": about {most} runs of a model at most, each of several calls; Ctrl-C stops" if is_model_asked else ""
        _tell(f"measuring {described}{cost} …")
        scores = None
        if asked is not None:
            scores = ask_questions(asked, question_runner(hired, sources), say=_tell, max_rounds=rounds)
            true, origin = scores.right_drafts, "to the questions, citing a right file"
        else:
            true, origin = _known_drafts(sources, offline, history if is_own_code else None, drafts)
        planted = PlantedScores(code=offline.validator, model=hired.validator if is_model_asked else None)
        for number, state in enumerate(true, 1):
            _tell(f"planting errors in draft {number} of {counted(len(true), 'draft')} …")
            planted.judge_with_errors(state, code)
    return Evaluation(
        investigator=described,
        codebases={one.name: one.repo.head() for one in code},
        questions=scores,
        planted=planted,
        planted_in=origin,
        history=history,
    )


def _known_drafts(
    sources: InvestigationInputs, offline: CaseworkModels, history: DraftHistory | None, count: int
) -> tuple[list[ThreadState], str]:
    """Return drafts to plant errors in, and what they are: approved ones, made up to `count` with searches."""
    code = sources.code.codebases
    kept = (
        one
        for one in (history.approved if history else ())
        if all(cited_lines(code, ref) for ref in one.evidence_refs if ref.kind is EvidenceKind.FILE)
        and one.investigator_task_id
        and offline.runs.ledger(one.investigator_task_id)
    )
    approved = list(islice(kept, count))
    made_up = questions_on_files(code, count - len(approved))
    runner = question_runner(offline, without_model(sources))
    drafts = ask_questions(made_up, runner, say=_tell, max_rounds=1).right_drafts
    counts = (len(approved), "approved word for word"), (len(drafts), "by search on one file each")
    return [*approved, *drafts], ", ".join(f"{number} {what}" for number, what in counts if number)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
