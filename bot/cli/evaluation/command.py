"""`triage eval`: how good drafts, checks and validator are, on questions and planted errors.

Nothing is posted. Without `--model` no model is asked, whatever keys there are. Each question leaves its record under
runs/, as `triage investigate` does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from bot.casework.evaluation.planted_errors import PlantedKind
from bot.casework.evaluation.planted_scores import Outcome, PlantedScores
from bot.casework.evaluation.question_scores import Answer, Hits, QuestionScores, ask_questions
from bot.casework.evaluation.question_set import KnownQuestion, questions_on_files, read_questions
from bot.casework.reports.measures import dollars, measure_total, middle, percent, seconds
from bot.cli.arguments import Scope, scoped
from bot.cli.investigate.local_investigation import open_any_sources, question_runner, without_model
from bot.cli.options import FILE, json_option
from bot.cli.output import WIDTH, cut, to_json, wrapped
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.model_access import uses_models
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.errors import ConfigError

SHOWN: Final = 10
_NO_QUESTIONS: Final = (
    "  none were given, so this part was not measured. Write a file like this:",
    '    - {ask: "where are sessions signed?", files: [src/sessions.py]}',
    '    - {ask: "what does a parking permit cost?", files: []}   # nothing answers',
    "  Next: triage eval --questions FILE",
)

DRAFTS: Final = 20
"""That get errors planted where no questions are given."""

JUDGED: Final = 4
"""Runs of a validator for a draft: two errors that only it can see, and unharmed, once more with a statement."""

_OFFLINE: Final = "no model asked, search and code checks alone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """All that was measured; `codebases` has the commit of each."""

    investigator: str
    codebases: Mapping[str, str]
    questions: QuestionScores | None
    planted: PlantedScores


def render(done: Evaluation) -> str:
    """Return the table."""
    code = ", ".join(f"{name} at {commit[:8]}" for name, commit in done.codebases.items())
    lines = [wrapped(f"Measured: {done.investigator}; {code}", indent="  "), "", "Questions"]
    lines += _questions(done.questions) if done.questions else _NO_QUESTIONS
    lines += ["", "Planted errors", *_planted(done)]
    return "\n".join(lines)


def _questions(found: QuestionScores) -> Iterator[str]:
    shares = found.shares
    cost = measure_total(one.cost_usd for one in found.answers if one.run_id)
    yield _figure("right file cited", _share(shares["cited"]))
    yield _figure("no draft where nothing answers", _share(shares["no_draft"]))
    yield _figure("drafts that passed all checks", _share(shares["passed"]))
    yield _figure("time of a question, the median", seconds(middle(one.seconds for one in found.answers)))
    yield _figure("cost of all", dollars(cost) if cost is not None else "unknown")
    yield from _list("Not right:", [(one.ask, _wrong(one)) for one in found.answers if not one.is_right])


def _wrong(one: Answer) -> str:
    if one.run_id is None:
        return f"failed: {one.problem}"
    return f"cites {', '.join(one.cited[:2]) or 'no file'}" if one.has_draft else "no draft"


def _planted(done: Evaluation) -> Iterator[str]:
    found, origin = done.planted, "to the questions, citing a right file" if done.questions else "searches, a file each"
    if not found.drafts:
        yield "  no draft could be made, so nothing was planted"
        return
    stating = found.counts(None).total() - found.drafts
    yield wrapped(f"true drafts: {found.drafts} ({origin}); {stating} again with a true statement put in", lead="  ")
    yield f"  {'':<33}{'planted':>8}{'checks':>8}{'validator':>11}{'passed':>8}"
    for kind in PlantedKind:
        counts = found.counts(kind)
        checks, validator, passed = counts[Outcome.CHECKS], counts[Outcome.VALIDATOR], counts[Outcome.PASSED]
        judged = validator if found.model else "–"
        yield f"  {kind:<33}{counts.total():>8}{checks:>8}{judged:>11}{passed:>8}"
    yield _figure("caught of all", _share(found.caught))
    yield _figure("refused though nothing was wrong", _share(found.unharmed))
    refused = [one for one in found.judged if not one.kind and one.outcome in (Outcome.CHECKS, Outcome.VALIDATOR)]
    yield from _list("Refused:", [(one.question, one.reason) for one in refused])
    unknown = [(one.question, one.reason) for one in found.judged if one.outcome is Outcome.UNKNOWN]
    yield from _list("No verdict, so not counted:", unknown)
    if found.model is None:
        yield "  Code compares places and quotes, not meaning: --model asks a second model."


def _figure(name: str, said: str) -> str:
    return f"  {name.replace('_', ' '):<36}{said}"


def _share(found: Hits) -> str:
    return f"{found.hits} of {found.of} ({percent(found.hits / found.of)})" if found.of else "none"


def _list(title: str, found: Sequence[tuple[str, str]]) -> Iterator[str]:
    if found:
        yield f"  {title}"
    for asked, said in found[:SHOWN]:
        yield from (cut(f"  - {one_line(asked, WIDTH)}"), cut(f"    {one_line(said, WIDTH)}"))
    if len(found) > SHOWN:
        yield f"    … and {len(found) - SHOWN} more; --json has all"


def evaluation_json(done: Evaluation) -> str:
    """Return all figures as one JSON object."""
    asked, planted = done.questions, done.planted
    questions = asked and {
        **{name: one._asdict() for name, one in asked.shares.items()},
        "answers": [asdict(one) for one in asked.answers],
    }
    facts = {
        "investigator": done.investigator,
        "codebases": done.codebases,
        "questions": questions,
        "planted": {
            "drafts": planted.drafts,
            "kinds": {kind: planted.counts(kind) for kind in PlantedKind},
            "caught": planted.caught._asdict(),
            "refused_unharmed": planted.unharmed._asdict(),
            "judged": [one._asdict() for one in planted.judged],
        },
    }
    return to_json(facts)


@click.command("eval", help="How good drafts, checks and validator are. Posts nothing, asks no model unless told to.")
@click.option("--questions", type=FILE, metavar="FILE", help="YAML or .ndjson: `ask`, and the `files` that answer")
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: those of triage.yml)")
@click.option("--limit", type=click.IntRange(1, 10_000), metavar="N", help="at most N questions and drafts")
@click.option("--model", is_flag=True, help="ask the configured models; costs money")
@json_option
@scoped
def command(
    scope: Scope,
    questions: Path | None,
    codebase: Path | None,
    limit: int | None,
    model: bool,
    as_json: bool,
) -> int:
    """Measure and print.

    Raises:
        ConfigError: the config, the codebase or the file of questions cannot be used, or there is no model to ask.
        InputError: it is not said which team is meant.
        StoreError: the data directory cannot be used.
    """
    sources = open_any_sources(scope, codebase)
    if model and not uses_models(sources.settings, sources.environment):
        raise ConfigError("no model is configured; set ANTHROPIC_API_KEY, or leave out --model")
    sources = sources if model else without_model(sources)
    asked = read_questions(questions, sources.code.codebases)[:limit] if questions else None
    done = _measure(sources, asked, drafts=limit or DRAFTS, is_model_asked=model)
    print(evaluation_json(done) if as_json else render(done))
    return 0


def _measure(
    sources: InvestigationInputs, asked: Sequence[KnownQuestion] | None, *, drafts: int, is_model_asked: bool
) -> Evaluation:
    """Return both parts; where no questions were given, errors are planted in `drafts` searches about a file."""
    code = sources.code.codebases
    for one in code:
        one.index.refresh()
    offline = CaseworkModels(without_model(sources))
    models = CaseworkModels(sources) if is_model_asked else offline
    try:
        described, count = models.described if is_model_asked else _OFFLINE, drafts if asked is None else len(asked)
        most = 2 * len(asked or ()) + JUDGED * count
        cost = f": about {most} runs of a model at most, each of several calls; Ctrl-C stops" if is_model_asked else ""
        _tell(f"measuring: {described}{cost} …")
        scores = ask_questions(asked, question_runner(models, sources), say=_tell) if asked is not None else None
        true = scores or ask_questions(questions_on_files(code, drafts), question_runner(offline, sources), say=_tell)
        planted = PlantedScores(code=offline.validator, model=models.validator if is_model_asked else None)
        for number, state in enumerate(true.right_drafts, 1):
            _tell(f"planting errors in draft {number} of {counted(len(true.right_drafts), 'draft')} …")
            planted.judge_with_errors(state, code)
    finally:
        models.close()
    return Evaluation(
        investigator=described,
        codebases={one.name: one.repo.head() for one in code},
        questions=scores,
        planted=planted,
    )


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
