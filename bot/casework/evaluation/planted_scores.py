"""Counts which planted errors the code checks find, which only a validator finds, and which true drafts are refused.

A model is asked only about drafts that the code checks let through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from bot.agent.git.repositories import Repositories
from bot.casework.checks.validation import Validator
from bot.casework.evaluation.planted_errors import PlantedKind, with_statement, wrong_citations
from bot.casework.evaluation.question_scores import Hits
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import ThreadState


class Outcome(StrEnum):
    """Who caught an error."""

    CHECKS = "checks"
    VALIDATOR = "validator"
    PASSED = "passed"
    UNKNOWN = "unknown"
    """The validator came to no verdict."""


class Judged(NamedTuple):
    """One judged draft: its question, the error (None: unharmed), who refused it and why."""

    question: str
    kind: PlantedKind | None
    outcome: Outcome
    reason: str


@dataclass(kw_only=True, slots=True)
class PlantedScores:
    """What became of drafts with an error each, and of the same drafts unharmed; judged by `code`, then by `model`."""

    code: Validator
    model: Validator | None = None
    drafts: int = 0
    judged: list[Judged] = field(default_factory=list)

    @property
    def unharmed(self) -> Hits:
        """The drafts that were refused though nothing was planted, of all that came to a verdict."""
        return _refused([one for one in self.judged if one.kind is None])

    @property
    def caught(self) -> Hits:
        """The errors that somebody caught, of all that came to a verdict."""
        return _refused([one for one in self.judged if one.kind])

    def counts(self, kind: PlantedKind | None) -> Counter[Outcome]:
        """Return what became of the errors of one kind, or of the drafts without one."""
        found = [one.outcome for one in self.judged if one.kind is kind]
        return Counter({one: found.count(one) for one in Outcome})

    def judge_with_errors(self, state: ThreadState, repos: Repositories) -> None:
        """Judge a draft unharmed, and with one error of each kind; raises ProviderError where git fails.

        It is judged again with a true statement put in, for the errors that need one. A draft that is refused
        unharmed gets no error: that one more is caught would prove nothing.
        """
        ret = state.investigator_return
        assert ret is not None
        self.drafts += 1
        if self._judge(state, ret, None) is Outcome.PASSED:
            self._judge_all(state, wrong_citations(ret, repos))
        stated = with_statement(ret)
        if stated is not None and self._judge(state, stated.ret, None) is Outcome.PASSED:
            self._judge_all(state, stated.wrong)

    def _judge_all(self, state: ThreadState, wrong: Mapping[PlantedKind, InvestigatorReturn]) -> None:
        for kind, ret in wrong.items():
            self._judge(state, ret, kind)

    def _judge(self, state: ThreadState, ret: InvestigatorReturn, kind: PlantedKind | None) -> Outcome:
        rounds = (*state.rounds[:-1], state.rounds[-1].model_copy(update={"investigator_return": ret}))
        drafted, run_id = state.evolve(investigator_return=ret, rounds=rounds), f"{state.thread_id}-eval"
        found, outcome = self.code.validate(drafted, run_id=run_id), Outcome.CHECKS
        if self.model is not None and found.passed:
            found, outcome = self.model.validate(drafted, run_id=run_id), Outcome.VALIDATOR
        if found.ret is None or found.passed:
            outcome = Outcome.PASSED if found.ret else Outcome.UNKNOWN
        reasons = found.ret.reasons if found.ret and outcome is not Outcome.PASSED else ()
        self.judged.append(Judged(state.question, kind, outcome, next(iter(reasons), found.problem or "")))
        return outcome


def _refused(judged: Sequence[Judged]) -> Hits:
    known = [one.outcome for one in judged if one.outcome is not Outcome.UNKNOWN]
    return Hits.of_marks(outcome is not Outcome.PASSED for outcome in known)
