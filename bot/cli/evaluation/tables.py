"""What `triage eval` found, as text of 80 columns and as JSON: each figure with its count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from bot.casework.evaluation.planted_errors import PlantedKind
from bot.casework.evaluation.planted_scores import Outcome, PlantedScores
from bot.casework.evaluation.question_scores import Answer, Hits, QuestionScores
from bot.casework.reports.measures import dollars, measure_total, middle, percent, seconds
from bot.cli.output import WIDTH, cut, to_json, wrapped
from bot.domain.questions.approval_basis import ENOUGH, Calibration, Decided
from bot.domain.text.sanitize import one_line

SHOWN: Final = 10
_FEW: Final = f"  * fewer than {ENOUGH} drafts: not enough data"
_NO_QUESTIONS: Final = (
    "  none were given, so this part was not measured. Write a file like this:",
    '    - {ask: "where are sessions signed?", files: [src/sessions.py]}',
    '    - {ask: "what does a parking permit cost?", files: []}   # nothing answers',
    "  Next: triage eval --questions FILE",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """All that was measured; `codebases` has the commit of each."""

    investigator: str
    codebases: Mapping[str, str]
    questions: QuestionScores | None
    planted: PlantedScores
    history: Mapping[str, Decided]
    calibration: Calibration | None = None
    """What is on file from now on; None where nothing was to be written."""


def render(done: Evaluation) -> str:
    """Return the table."""
    code = ", ".join(f"{name} at {commit[:8]}" for name, commit in done.codebases.items())
    lines = [wrapped(f"Measured: {done.investigator}; {code}", indent="  "), "", "Questions"]
    lines += _questions(done.questions) if done.questions else _NO_QUESTIONS
    lines += ["", "Planted errors", *_planted(done)]
    lines += ["", "What people decided", *_history(done.history)]
    if done.calibration is not None:
        lines += ["", f"On file. Cards say so of each kind with {ENOUGH} drafts or more from now on."]
    return "\n".join(lines)


def _questions(found: QuestionScores) -> Iterator[str]:
    shares = found.shares
    cost = measure_total(one.cost_usd for one in found.answers if one.run_id)
    yield _figure("right file cited", _share(shares["cited"]))
    yield _figure("no draft where nothing answers", _share(shares["no_draft"]))
    yield _figure("drafts that passed all checks", _share(shares["passed"]))
    yield _figure("time of a question, the median", seconds(middle(one.seconds for one in found.answers)))
    yield _figure("cost of all", dollars(cost) if cost is not None else "unknown")
    for kind, one in found.kinds.items():
        card = next((answer.expected for answer in found.answers if answer.kind == kind and answer.expected), None)
        said = f", cards said {percent(card)}" if card else ""
        yield _figure(f"{kind}: right file", f"{_share(Hits(one.right, one.drafts))}{said}{_few(one.drafts)}")
    yield from [_FEW] if any(one.drafts < ENOUGH for one in found.kinds.values()) else []
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


def _history(found: Mapping[str, Decided]) -> Iterator[str]:
    if not found:
        yield "  no draft was decided yet: not enough data"
        return
    yield f"  {'':<24}{'as it was':>10}{'edited':>8}{'dismissed':>11}{'helpful':>9}{'not helpful':>13}"
    for kind, one in found.items():
        counts = f"{one.approved:>10}{one.edited:>8}{one.dismissed:>11}{one.helpful:>9}{one.not_helpful:>13}"
        yield f"  {kind.replace('_', ' '):<24}{counts}{_few(one.drafts)}"
    yield from [_FEW] if any(one.drafts < ENOUGH for one in found.values()) else []


def _few(drafts: int) -> str:
    return " *" if drafts < ENOUGH else ""


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
        "kinds": {kind: one.model_dump() for kind, one in asked.kinds.items()},
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
        "history": {kind: one.model_dump() for kind, one in done.history.items()},
        "calibration": done.calibration.model_dump(mode="json") if done.calibration else None,
    }
    return to_json(facts)
