"""`triage eval`: how good drafts, checks and validator are, on questions, planted errors and what people decided.

Nothing is posted. Without `--model` no model is asked, whatever keys there are. Each question leaves its record under
runs/, as `triage investigate` does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
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
from bot.casework.evaluation.planted_citations import Source
from bot.casework.evaluation.planted_scores import Judges, judge_planted
from bot.casework.evaluation.question_scores import QuestionScores, ask_questions
from bot.casework.evaluation.question_set import KnownQuestion, questions_on_files, read_questions
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import environment_at, settings_at, store_at
from bot.cli.evaluation.tables import Evaluation, evaluation_json, render
from bot.cli.investigate.local_investigation import open_sources, question_runner, without_model
from bot.cli.options import FILE, json_option
from bot.cli.search import open_codebases
from bot.composition.codebases import TeamCode, open_team_code
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.model_access import uses_models
from bot.config.environment import Environment, process_home
from bot.config.settings import Settings, find_config
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState
from bot.errors import ConfigError

DRAFTS: Final = 20
"""That get errors planted where no questions are given."""
JUDGED: Final = 6
"""Runs of a validator for a draft: four errors that only it can see, and unharmed, once more with a statement."""
_OFFLINE: Final = "no model asked, search and code checks alone"
_NO_CHANNEL: Final = "C0000000000"
_SHARES: Final[Mapping[str, Callable[[Evaluation], float | None]]] = {
    "cited": lambda done: done.questions.cited.share if done.questions else None,
    "first": lambda done: done.questions.first.share if done.questions else None,
    "no_draft": lambda done: done.questions.no_draft.share if done.questions else None,
    "caught": lambda done: done.planted.caught.share,
}


@click.command("eval", help="How good drafts, checks and validator are. Posts nothing, asks no model unless told to.")
@click.option("--questions", type=FILE, metavar="FILE", help="YAML or .ndjson: `ask`, and the `files` that answer")
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: those of triage.yml)")
@click.option("--limit", type=click.IntRange(1, 10_000), metavar="N", help="at most N questions and drafts")
@click.option("--model", is_flag=True, help="ask the configured models; costs money")
@click.option("--calibrate", is_flag=True, help="have cards say what was measured here, once it is enough")
@click.option("--seed", type=int, default=0, show_default=True, help="which errors are planted")
@click.option("--require", metavar="NAME=SHARE,…", help=f"exit code 1 below these: {', '.join(_SHARES)}; cited=0.8")
@json_option
@scoped
def command(
    scope: Scope,
    questions: Path | None,
    codebase: Path | None,
    limit: int | None,
    model: bool,
    calibrate: bool,
    seed: int,
    require: str | None,
    as_json: bool,
) -> int:
    """Measure and print; exit code 0, 1 if a share of `--require` is missed.

    Raises:
        ConfigError: the config, the codebase or the file of questions cannot be used, or there is no model to ask.
        InputError: it is not said which team is meant.
        StoreError: the data directory cannot be used.
    """
    required = _required(require)
    if calibrate and codebase is not None:
        raise click.UsageError("--calibrate is about the codebases of triage.yml; leave out --codebase")
    sources = _open(scope, codebase, is_model_asked=model)
    asked = read_questions(questions, sources.code.codebases)[:limit] if questions else None
    history = read_history(store_at(sources.environment.home))
    done = _measure(sources, asked, history if codebase is None else None, history, model=model, limit=limit, seed=seed)
    if calibrate:
        documents, now = sources.storage.documents, sources.clock.now()
        calibration = write_calibration(documents, done.questions, history, now, is_model=model)
        done = replace(done, calibration=calibration)
    print(evaluation_json(done) if as_json else render(done))
    missed = [
        f"{name} is {_said(share)}, required {least:g}"
        for name, least in required.items()
        if (share := _SHARES[name](done)) is None or share < least
    ]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def _said(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.2f}"


def _required(text: str | None) -> dict[str, float]:
    found = {}
    for part in text.split(",") if text else ():
        name, _, share = part.strip().partition("=")
        try:
            found[name] = float(share)
        except ValueError:
            found[name] = -1.0
        if name not in _SHARES or not 0 <= found[name] <= 1:
            raise click.BadParameter(
                f"{part!r} is no share; write it as in cited=0.8,caught=0.9", param_hint="--require"
            )
    return found


def _open(scope: Scope, codebase: Path | None, *, is_model_asked: bool) -> InvestigationInputs:
    """Return what is measured with: a triage.yml is needed for neither `--codebase` nor the history."""
    environment = environment_at(scope.one_team())
    settings = _settings(scope.config, codebase, environment.home)
    if is_model_asked and not uses_models(settings, environment):
        raise ConfigError("no model is configured; set ANTHROPIC_API_KEY, or leave out --model")
    code = _code(codebase, settings, environment, scope.config)
    sources = open_sources(settings, environment, code=code)
    return sources if is_model_asked else without_model(sources)


def _settings(config: Path | None, codebase: Path | None, home: Path) -> Settings:
    """Return the settings of triage.yml, whose limits hold; without one, those that hold for a codebase alone."""
    try:
        find_config(config, process_home(home))
    except ConfigError:
        if config is not None or codebase is None:
            raise
        return Settings(codebase=GitRepo(codebase).root, ops_channel=_NO_CHANNEL)
    return settings_at(config, home)


def _code(codebase: Path | None, settings: Settings, environment: Environment, config: Path | None) -> TeamCode:
    if codebase is None:
        return open_team_code(settings, environment)
    members = open_codebases(codebase, environment.home, config)
    return TeamCode(codebases=members, ids=set(), staleness=CitationStaleness(members), link_to=lambda _: None)


def _measure(
    sources: InvestigationInputs,
    asked: Sequence[KnownQuestion] | None,
    drafted: DraftHistory | None,
    history: DraftHistory,
    *,
    model: bool,
    limit: int | None,
    seed: int,
) -> Evaluation:
    """Return all three parts; `drafted` are the decided drafts that errors may be planted in."""
    code = sources.code.codebases
    for one in code:
        one.index.refresh()
    with ExitStack() as at_end:
        offline = CaseworkModels(without_model(sources))
        hired = CaseworkModels(sources) if model else offline
        at_end.callback(hired.close)
        rounds = sources.settings.investigator.max_rounds
        described = hired.described if model else _OFFLINE
        _tell(_plan(described, asked, rounds, model=model, drafts=limit or DRAFTS))
        runner = question_runner(hired, sources)
        scores = ask_questions(asked, runner, say=_tell, max_rounds=rounds) if asked is not None else None
        drafts, origin = _drafts(sources, offline, scores, drafted, count=limit or DRAFTS, seed=seed)
        _tell(f"planting errors in {counted(len(drafts), 'draft')} …")
        judges = Judges(code=offline.validator, model=hired.validator if model else None)
        planted = judge_planted(drafts, judges, Source(repos=code), seed=seed)
    return Evaluation(
        investigator=described,
        codebases={one.name: one.repo.head() for one in code},
        questions=scores,
        planted=planted,
        planted_in=origin,
        history=history,
        seed=seed,
    )


def _drafts(
    sources: InvestigationInputs,
    offline: CaseworkModels,
    scores: QuestionScores | None,
    history: DraftHistory | None,
    *,
    count: int,
    seed: int,
) -> tuple[list[ThreadState], str]:
    """Return true drafts, and what they are: those to the questions, else approved ones and of the search."""
    if scores is not None:
        return [one.run.state for one in scores.right_drafts if one.run], "to the questions, citing a right file"
    source = Source(repos=sources.code.codebases)
    kept = (one for one in (history.approved if history else ()) if one.investigator_task_id)
    known = (one for one in kept if source.has_all(one.evidence_refs))
    approved = list(islice((one for one in known if offline.runs.ledger(str(one.investigator_task_id))), count))
    made_up = questions_on_files(sources.code.codebases, count - len(approved), seed=seed)
    found = ask_questions(made_up, question_runner(offline, without_model(sources)), say=_tell, max_rounds=1)
    drafts = [one.run.state for one in found.right_drafts if one.run]
    counts = (len(approved), "approved word for word"), (len(drafts), "by search on one file each")
    return [*approved, *drafts], ", ".join(f"{number} {what}" for number, what in counts if number)


def _plan(described: str, asked: Sequence[KnownQuestion] | None, rounds: int, *, model: bool, drafts: int) -> str:
    if not model:
        return f"measuring {described} …"
    count = len(asked) if asked is not None else 0
    most = 2 * rounds * count + JUDGED * (count or drafts)
    return f"measuring {described}: about {most} runs of a model at most, each of several calls; Ctrl-C stops …"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
