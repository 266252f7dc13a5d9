"""Which planted errors the code checks catch, which only a validator does, and which nobody; and what is refused
though nothing is wrong with it.

The code checks cost nothing, so a model is asked only about drafts that they let through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from bot.casework.checks.validation import Validation, Validator
from bot.casework.evaluation.planted_citations import Source
from bot.casework.evaluation.planted_errors import STATED, PlantedKind, plant
from bot.casework.evaluation.planted_statements import states_anything, with_statement
from bot.casework.evaluation.question_scores import Hits
from bot.domain.returns import InvestigatorReturn, Verdict
from bot.domain.threads import ThreadState


class Outcome(StrEnum):
    """Who caught an error."""

    CHECKS = "checks"
    VALIDATOR = "validator"
    PASSED = "passed"
    UNKNOWN = "unknown"
    """The validator came to no verdict."""


class Planted(NamedTuple):
    """One judged draft: its question, the error (None: unharmed), who refused it and why."""

    question: str
    kind: PlantedKind | None
    outcome: Outcome
    reason: str


class KindCounts(NamedTuple):
    """What became of the errors of one kind."""

    planted: int
    checks: int
    validator: int
    passed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedScores:
    """What became of drafts with an error each, and of the same drafts unharmed."""

    judged: Sequence[Planted]
    drafts: int
    has_model: bool

    @property
    def unharmed(self) -> Hits:
        """The drafts that were refused though nothing was planted, of all that came to a verdict."""
        return self._refused([one for one in self.judged if one.kind is None])

    @property
    def caught(self) -> Hits:
        """The errors that somebody caught, of all that came to a verdict."""
        return self._refused([one for one in self.judged if one.kind])

    @property
    def stating(self) -> int:
        """How many drafts were judged again with a statement put in."""
        return sum(one.kind is None for one in self.judged) - self.drafts

    @staticmethod
    def _refused(judged: Sequence[Planted]) -> Hits:
        known = [one.outcome for one in judged if one.outcome is not Outcome.UNKNOWN]
        return Hits.of_marks(outcome is not Outcome.PASSED for outcome in known)

    def of_kind(self, kind: PlantedKind) -> KindCounts:
        """Return the counts of one kind."""
        found = [one.outcome for one in self.judged if one.kind is kind]
        return KindCounts(
            len(found), found.count(Outcome.CHECKS), found.count(Outcome.VALIDATOR), found.count(Outcome.PASSED)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Judges:
    """Who judges drafts: the code checks, and a model behind them; None where there is no model."""

    code: Validator
    model: Validator | None = None

    def judge(self, state: ThreadState, kind: PlantedKind | None) -> Planted:
        """Return what becomes of a thread's draft; raises ProviderError where git fails."""
        run_id = f"{state.thread_id}-eval"
        found, by = self.code.validate(state, run_id=run_id), Outcome.CHECKS
        if self.model is not None and _passed(found):
            found, by = self.model.validate(state, run_id=run_id), Outcome.VALIDATOR
        if found.ret is None:
            return Planted(state.question, kind, Outcome.UNKNOWN, found.problem or "")
        if _passed(found):
            return Planted(state.question, kind, Outcome.PASSED, "")
        return Planted(state.question, kind, by, next(iter(found.ret.reasons), ""))


def _passed(found: Validation) -> bool:
    return found.ret is not None and found.ret.verdict is Verdict.PASS


def judge_planted(drafts: Iterable[ThreadState], judges: Judges, source: Source, *, seed: int) -> PlantedScores:
    """Plant one error of each kind in each draft, and judge them beside the unharmed ones.

    A draft that only quotes is judged again with a true statement put in, for the errors that need one. A draft that
    is refused unharmed gets no error: that one more is caught would prove nothing.
    """
    judged: list[Planted] = []
    given = list(drafts)
    for state in given:
        for ret, kinds in _versions(state):
            unharmed = _with_draft(state, ret)
            plain = judges.judge(unharmed, None)
            judged.append(plain)
            for kind in kinds if plain.outcome is Outcome.PASSED else ():
                wrong = plant(kind, ret, source, seed=f"{seed} {state.question}")
                if wrong is not None:
                    judged.append(judges.judge(_with_draft(state, wrong), kind))
    return PlantedScores(judged=judged, drafts=len(given), has_model=judges.model is not None)


def _versions(state: ThreadState) -> Iterator[tuple[InvestigatorReturn, Sequence[PlantedKind]]]:
    """Yield the draft, and with a statement put in where it makes none; with each the kinds of errors for it."""
    ret = state.investigator_return
    assert ret is not None
    stating = None if states_anything(ret) else with_statement(ret)
    yield ret, [kind for kind in PlantedKind if stating is None or kind not in STATED]
    if stating is not None:
        yield stating, [kind for kind in PlantedKind if kind in STATED]


def _with_draft(state: ThreadState, ret: InvestigatorReturn) -> ThreadState:
    rounds = (*state.rounds[:-1], state.rounds[-1].model_copy(update={"investigator_return": ret}))
    return state.evolve(investigator_return=ret, rounds=rounds)
