"""How many questions were answered with the right file, and whether drafts were as good as was said of them.

What a question cost is counted whether its draft was right or not. A right file does not prove that the quoted lines
answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from time import monotonic
from typing import NamedTuple

from bot.casework.evaluation.question_run import QuestionRun, QuestionRunner, Say
from bot.casework.evaluation.question_set import KnownQuestion
from bot.casework.reports.measures import measure_total, middle
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, InvestigatorReturn, TrackRecord
from bot.errors import TriageError


class Hits(NamedTuple):
    """How often something held, of how many."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """The hits as a share; None of nothing."""
        return self.hits / self.of if self.of else None

    @classmethod
    def of_marks(cls, marks: Iterable[bool]) -> Hits:
        """Return how many of some marks are set."""
        known = list(marks)
        return cls(sum(known), len(known))


class Forecast(NamedTuple):
    """What share of right drafts was expected of one like this, 0 to 1, and whether it was right."""

    expected: float
    is_right: bool

    @classmethod
    def of_card(cls, record: TrackRecord | None, *, is_right: bool) -> list[Forecast]:
        """Return what a card said of drafts like its own; nothing where it named no tests."""
        return [cls(record.expected, is_right)] if record is not None and record.drafts else []


class CalibrationError(NamedTuple):
    """How far, on average, what was expected is from what came; None of no drafts."""

    value: float | None
    drafts: int

    @classmethod
    def of(cls, forecasts: Sequence[Forecast]) -> CalibrationError:
        """Return the expected calibration error, over groups of forecasts that lie within the same tenth.

        >>> CalibrationError.of([Forecast(0.9, True), Forecast(0.9, False)])
        CalibrationError(value=0.4, drafts=2)
        """
        tenths: dict[int, list[Forecast]] = defaultdict(list)
        for one in forecasts:
            tenths[min(int(one.expected * 10), 9)].append(one)
        gaps = [
            len(group) * abs(mean(one.expected for one in group) - mean(one.is_right for one in group))
            for group in tenths.values()
        ]
        return cls(round(sum(gaps) / len(forecasts), 4) if forecasts else None, len(forecasts))


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """One question and what came of it; without `run` it failed, and `problem` says why."""

    question: KnownQuestion
    seconds: float
    run: QuestionRun | None = None
    problem: str = ""

    @property
    def cited(self) -> list[str]:
        """The files that the draft cites, each once, in order."""
        return cited_files(self.run.found.ret) if self.run else []

    @property
    def has_draft(self) -> bool:
        """Whether there is a draft."""
        return self.run is not None and bool(self.run.found.ret.draft_reply.strip())

    @property
    def is_right(self) -> bool:
        """Whether the draft cites a file that answers; where nothing does, whether there is no draft."""
        if not self.question.files:
            return self.run is not None and not self.has_draft
        return not set(self.question.files).isdisjoint(self.cited)

    @property
    def is_first(self) -> bool:
        """Whether the file cited first is one that answers."""
        return bool(self.cited) and self.cited[0] in self.question.files


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionScores:
    """What came of a set of questions."""

    answered: Sequence[Answered]

    @property
    def cited(self) -> Hits:
        """A right file cited, of the questions that have one."""
        return Hits.of_marks(one.is_right for one in self.answered if one.question.files)

    @property
    def first(self) -> Hits:
        """A right file cited first."""
        return Hits.of_marks(one.is_first for one in self.answered if one.question.files)

    @property
    def no_draft(self) -> Hits:
        """No draft, of the questions that nothing answers."""
        return Hits.of_marks(one.is_right for one in self.answered if not one.question.files)

    @property
    def passed(self) -> Hits:
        """Drafts that the checks and the validator let through."""
        return Hits.of_marks(one.run.passed for one in self.answered if one.run and one.has_draft)

    @property
    def right_drafts(self) -> list[Answered]:
        """Those whose draft cites a file that answers."""
        return [one for one in self.answered if one.question.files and one.is_right]

    @property
    def rounds(self) -> float | None:
        """Rounds of a question, on average."""
        counts = [len(one.run.state.rounds) for one in self.answered if one.run]
        return round(mean(counts), 2) if counts else None

    @property
    def median_s(self) -> float | None:
        """Seconds of a question, the median."""
        return middle(one.seconds for one in self.answered)

    @property
    def cost_usd(self) -> float | None:
        """US dollars of all; None where a price is not known."""
        return measure_total(one.run.usage.cost_usd for one in self.answered if one.run)

    @property
    def calibration(self) -> CalibrationError:
        """How far what the card says of such drafts is from what came; a draft where nothing answers is wrong."""
        drafts = [(one, one.run.found.ret.track_record) for one in self.answered if one.run and one.has_draft]
        marked = [(record, one.is_right and bool(one.question.files)) for one, record in drafts]
        return CalibrationError.of(
            [said for record, mark in marked for said in Forecast.of_card(record, is_right=mark)]
        )


def cited_files(ret: InvestigatorReturn) -> list[str]:
    """Return the files a draft cites, each once, in order."""
    lines = (parse_lines(ref.ref) for ref in ret.evidence_refs if ref.kind is EvidenceKind.FILE)
    return list(dict.fromkeys(one.path for one in lines if one))


def ask_questions(
    questions: Sequence[KnownQuestion], runner: QuestionRunner, *, say: Say, max_rounds: int
) -> QuestionScores:
    """Ask each question; one that fails stops no other."""
    answered = []
    for number, one in enumerate(questions, 1):
        say(f"question {number} of {len(questions)} …")
        began = monotonic()
        try:
            run = runner.run(one.ask, say=lambda _: None, max_rounds=max_rounds)
        except TriageError as error:
            answered.append(Answered(question=one, seconds=monotonic() - began, problem=str(error)))
        else:
            answered.append(Answered(question=one, seconds=monotonic() - began, run=run))
    return QuestionScores(answered=answered)
