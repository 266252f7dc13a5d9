"""What `triage eval` found, as text of 80 columns and as JSON: each figure with its count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.casework.evaluation.draft_history import Decisions, DraftGroup, DraftHistory
from bot.casework.evaluation.planted_errors import PlantedKind
from bot.casework.evaluation.planted_scores import Outcome, PlantedScores
from bot.casework.evaluation.question_scores import Answered, CalibrationError, Hits, QuestionScores
from bot.casework.reports.measures import dollars, percent, seconds
from bot.cli.output import WIDTH, cut, to_json, wrapped
from bot.domain.questions.calibration import ENOUGH, Calibration, Decided, Measured
from bot.domain.text.sanitize import one_line

SHOWN: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """All that was measured; `codebases` has the commit of each, `planted_in` says in which drafts errors were put."""

    investigator: str
    codebases: Mapping[str, str]
    questions: QuestionScores | None
    planted: PlantedScores
    planted_in: str
    history: DraftHistory
    calibration: Calibration | None = None
    """What is on file from now on; None where nothing was to be written."""


def render(done: Evaluation) -> str:
    """Return the table."""
    code = ", ".join(f"{name} at {commit[:8]}" for name, commit in done.codebases.items())
    lines = [wrapped(f"Measured: {done.investigator}; {code}", indent="  "), "", "Questions"]
    lines += _questions(done.questions) if done.questions else _no_questions()
    lines += ["", "Planted errors", *_planted(done.planted, done.planted_in)]
    lines += ["", "What people decided", *_history(done.history)]
    if done.calibration is not None:
        lines += ["", "What cards say from now on of drafts like theirs", *_calibrated(done.calibration)]
    return "\n".join(lines)


def _no_questions() -> Iterator[str]:
    yield "  none were given, so this part was not measured. Write a file like this:"
    yield '    - {ask: "where are sessions signed?", files: [src/sessions.py]}'
    yield '    - {ask: "what does a parking permit cost?", files: []}   # nothing answers'
    yield "  Next: triage eval --questions FILE"


def _questions(found: QuestionScores) -> Iterator[str]:
    yield _figure("right file cited", _share(found.cited))
    yield _figure("right file cited first", _share(found.first))
    yield _figure("no draft where nothing answers", _share(found.no_draft))
    yield _figure("drafts that passed all checks", _share(found.passed))
    yield _figure("rounds of a question, on average", f"{found.rounds or 0:.1f}")
    yield _figure("time of a question, the median", seconds(found.median_s))
    yield _figure("cost of all", dollars(found.cost_usd) if found.cost_usd is not None else "unknown")
    yield from _calibration("what cards said against what came", found.calibration)
    wrong = [one for one in found.answered if not one.is_right]
    yield from _list("Not right:", [(one.question.ask, _wrong(one)) for one in wrong])


def _wrong(one: Answered) -> str:
    if one.run is None:
        return f"failed: {one_line(one.problem, WIDTH)}"
    return f"cites {', '.join(one.cited[:2]) or 'no file'}" if one.has_draft else "no draft"


def _planted(found: PlantedScores, origin: str) -> Iterator[str]:
    if not found.drafts:
        yield "  no draft could be made, so nothing was planted"
        return
    stating = found.counts(None).total() - found.drafts
    again = f"; {stating} again with a true statement put in" if stating else ""
    yield wrapped(f"true drafts: {found.drafts} ({origin}){again}", lead="  ")
    yield f"  {'':<33}{'planted':>8}{'checks':>8}{'validator':>11}{'passed':>8}"
    for kind in PlantedKind:
        counts = found.counts(kind)
        checks, validator, passed = counts[Outcome.CHECKS], counts[Outcome.VALIDATOR], counts[Outcome.PASSED]
        judged = validator if found.model else "–"
        yield f"  {kind:<33}{counts.total():>8}{checks:>8}{judged:>11}{passed:>8}"
    yield _figure("caught of all", _share(found.caught))
    yield _figure("refused though nothing was wrong", _share(found.unharmed))
    unknown = [one for one in found.judged if one.outcome is Outcome.UNKNOWN]
    refused = [one for one in found.judged if not one.kind and one.outcome in (Outcome.CHECKS, Outcome.VALIDATOR)]
    yield from _list("Refused:", [(one.question, one.reason) for one in refused])
    yield from _list("No verdict, so not counted:", [(one.question, one.reason) for one in unknown])
    if found.model is None:
        yield wrapped(
            "Code compares places and quotes, not meaning: what passed is for a second model (--model) and for"
            " whoever approves.",
            lead="  ",
        )


def _history(found: DraftHistory) -> Iterator[str]:
    groups = found.groups
    if not groups:
        yield "  no draft was decided yet: not enough data"
        return
    yield f"  {'':<24}{'as it was':>10}{'edited':>8}{'dismissed':>11}{'helpful':>9}{'not helpful':>13}"
    for group, counts in groups.items():
        approved, edited, dismissed, helpful, against = counts
        few = "  *" if counts.drafts < ENOUGH else ""
        yield f"  {_group(group):<24}{approved:>10}{edited:>8}{dismissed:>11}{helpful:>9}{against:>13}{few}"
    if any(counts.drafts < ENOUGH for counts in groups.values()):
        yield f"  * fewer than {ENOUGH} drafts: not enough data for a share"
    yield from _calibration("what cards said against decisions", found.calibration)


def _calibrated(known: Calibration) -> Iterator[str]:
    bands = sorted({*known.tests, *known.people})
    for band in bands:
        tested, decided = known.tests.get(band, Measured()), known.people.get(band, Decided())
        marks = [f"{tested.right} of {tested.drafts} named a right file{_few(tested.drafts)}"] if tested.drafts else []
        marks += [f"{decided.approved} of {decided.drafts} approved{_few(decided.drafts)}"] if decided.drafts else []
        yield wrapped(f"{band.replace('_', ' '):<20}{'; '.join(marks)}", lead="  ", indent=" " * 22)
    if not bands:
        yield "  nothing: no draft was measured or decided"
    elif min(one.drafts for counts in (known.tests, known.people) for one in counts.values()) < ENOUGH:
        yield f"  * fewer than {ENOUGH}: not shown on cards yet"


def _few(drafts: int) -> str:
    return " *" if drafts < ENOUGH else ""


def _group(group: DraftGroup) -> str:
    return f"{group.confidence}, {'by search' if group.is_search else 'by a model'}"


def _calibration(name: str, found: CalibrationError) -> Iterator[str]:
    if found.value is None or found.drafts < ENOUGH:
        yield _figure(name, f"not enough data ({found.drafts} drafts of {ENOUGH})")
    else:
        yield _figure(name, f"{found.value:.2f} apart, over {found.drafts} drafts")


def _figure(name: str, said: str) -> str:
    return f"  {name:<36}{said}"


def _share(found: Hits) -> str:
    return f"{found.hits} of {found.of} ({percent(found.share)})" if found.of else "none"


def _list(title: str, found: Sequence[tuple[str, str]]) -> Iterator[str]:
    if found:
        yield f"  {title}"
    for asked, said in found[:SHOWN]:
        yield from (cut(f"  - {one_line(asked, WIDTH)}"), cut(f"    {one_line(said, WIDTH)}"))
    if len(found) > SHOWN:
        yield f"    … and {len(found) - SHOWN} more; --json has all"


def evaluation_json(done: Evaluation) -> str:
    """Return all figures as one JSON object."""
    planted = done.planted
    facts: dict[str, Any] = {
        "investigator": done.investigator,
        "codebases": done.codebases,
        "questions": _question_facts(done.questions) if done.questions else None,
        "planted": {
            "in": done.planted_in,
            "kinds": {kind: _kind_facts(planted.counts(kind)) for kind in PlantedKind},
            "caught": planted.caught._asdict(),
            "refused_unharmed": planted.unharmed._asdict(),
            "judged": [one._asdict() for one in planted.judged],
        },
        "history": {
            "groups": [_group_facts(group, counts) for group, counts in done.history.groups.items()],
            "calibration": done.history.calibration._asdict(),
        },
        "calibration": done.calibration.model_dump(mode="json") if done.calibration else None,
    }
    return to_json(facts)


def _kind_facts(counts: Counter[Outcome]) -> dict[str, int]:
    return {"planted": counts.total(), **{one: counts[one] for one in Outcome}}


def _group_facts(group: DraftGroup, counts: Decisions) -> dict[str, Any]:
    return {**group._asdict(), **counts._asdict(), "is_enough": counts.drafts >= ENOUGH}


def _question_facts(found: QuestionScores) -> dict[str, Any]:
    shares = {name: getattr(found, name)._asdict() for name in ("cited", "first", "no_draft", "passed", "calibration")}
    return {
        **shares,
        "rounds": found.rounds,
        "median_s": found.median_s,
        "cost_usd": found.cost_usd,
        "answers": [_answer_facts(one) for one in found.answered],
    }


def _answer_facts(one: Answered) -> dict[str, Any]:
    return {
        "ask": one.question.ask,
        "files": one.question.files,
        "cited": one.cited,
        "is_right": one.is_right,
        "has_draft": one.has_draft,
        "confidence": one.run.found.ret.confidence if one.run else None,
        "passed": one.run.passed if one.run else None,
        "seconds": round(one.seconds, 3),
        "run_id": one.run.run_id if one.run else None,
        "problem": one.problem,
    }
