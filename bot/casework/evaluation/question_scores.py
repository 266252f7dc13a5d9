"""How many questions were answered with the right file.

What a question cost is counted whether its draft was right or not. A right file does not prove that the quoted lines
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from bot.casework.evaluation.question_run import QuestionRun, QuestionRunner, Say
from bot.casework.evaluation.question_set import KnownQuestion
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, InvestigatorReturn
from bot.domain.threads import ThreadState
from bot.errors import TriageError


class Hits(NamedTuple):
    """How often something held, of how many."""

    hits: int
    of: int

    @classmethod
    def of_marks(cls, marks: Iterable[bool]) -> Hits:
        """Return how many of some marks are set."""
        known = list(marks)
        return cls(sum(known), len(known))


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One question and what came of it; without `run_id` it failed, and `problem` says why.

    `is_right`: the draft cites a file that answers; where nothing does, there is no draft.
    """

    ask: str
    files: Sequence[str]
    seconds: float
    problem: str = ""
    run_id: str | None = None
    cited: Sequence[str] = ()
    is_right: bool = False
    has_draft: bool = False
    passed: bool = False
    cost_usd: float | None = None
    """US dollars; None where a price is not known."""


@dataclass(kw_only=True, slots=True)
class QuestionScores:
    """What came of a set of questions; `right_drafts` has the threads whose draft cites a file that answers."""

    answers: list[Answer] = field(default_factory=list)
    right_drafts: list[ThreadState] = field(default_factory=list)

    @property
    def shares(self) -> Mapping[str, Hits]:
        """Right files cited, silence where nothing answers, and drafts that the checks and the validator passed."""
        return {
            "cited": Hits.of_marks(one.is_right for one in self.answers if one.files),
            "no_draft": Hits.of_marks(one.is_right for one in self.answers if not one.files),
            "passed": Hits.of_marks(one.passed for one in self.answers if one.has_draft),
        }


def ask_questions(questions: Sequence[KnownQuestion], runner: QuestionRunner, *, say: Say) -> QuestionScores:
    """Ask each question; one that fails stops no other."""
    scores = QuestionScores()
    for number, one in enumerate(questions, 1):
        say(f"question {number} of {len(questions)} …")
        began = monotonic()
        try:
            run = runner.run(one.ask, say=lambda _: None)
        except TriageError as error:
            seconds = round(monotonic() - began, 3)
            scores.answers.append(Answer(ask=one.ask, files=one.files, seconds=seconds, problem=str(error)))
            continue
        answer = _answer_of(one, run, round(monotonic() - began, 3))
        scores.answers.append(answer)
        scores.right_drafts += [run.state] if one.files and answer.is_right else []
    return scores


def _answer_of(question: KnownQuestion, run: QuestionRun, seconds: float) -> Answer:
    """Return what came of a question."""
    ret, cited = run.found.ret, _cited_files(run.found.ret)
    has_draft, files = bool(ret.draft_reply.strip()), set(question.files)
    return Answer(
        ask=question.ask,
        files=question.files,
        seconds=seconds,
        run_id=run.run_id,
        cited=cited,
        is_right=has_draft and not files.isdisjoint(cited) if files else not has_draft,
        has_draft=has_draft,
        passed=run.validation.passed,
        cost_usd=run.usage.cost_usd,
    )


def _cited_files(ret: InvestigatorReturn) -> list[str]:
    """Return the files a draft cites, each once, in order."""
    lines = (parse_lines(ref.ref) for ref in ret.evidence_refs if ref.kind is EvidenceKind.FILE)
    return list(dict.fromkeys(one.path for one in lines if one))
