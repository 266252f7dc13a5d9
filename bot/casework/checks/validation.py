"""The result of a validation, and the validator that needs no model: the checks by code and their verdict.

The deterministic checks come first. A draft that they refute is bounced without a model; of any other the model that
validates (bot/casework/checks/model_validator.py) is told what could not be checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.agent.run_records import RunRecorder
from bot.casework.checks.draft_checks import check_return
from bot.casework.checks.sources import Sources
from bot.domain.questions.rubrics import rubric_for
from bot.domain.questions.verdict_rules import verdict_of_checks
from bot.domain.returns import Check, Usage, ValidatorReturn, Verdict, total_usage
from bot.domain.threads import ThreadState
from bot.ports import Clock, NoteStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """A verdict and the checks it rests on; `ret` is None where no verdict came about, and `problem` says why."""

    ret: ValidatorReturn | None
    checks: tuple[Check, ...]
    usage: Usage = field(default_factory=Usage)
    ledger: Ledger = field(default_factory=Ledger)
    problem: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Which limit of time ended the run, if one did: `timeout_kind`, `timeout_s`, `stall_s`."""
    convergence_forced: bool = False

    @property
    def passed(self) -> bool:
        """Whether every check and the validator let the draft through."""
        return self.ret is not None and self.ret.verdict is Verdict.PASS

    def as_trace(self) -> dict[str, Any]:
        """Return what the record of the run keeps."""
        return {
            "problem": self.problem,
            **self.limits,
            "convergence_forced": self.convergence_forced,
            "usage": self.usage.model_dump(),
            "ledger": self.ledger.model_dump(),
            "checks": [check.model_dump() for check in self.checks],
            "return": self.ret.model_dump(mode="json") if self.ret else None,
        }


def changes_of_validation(now: ThreadState, validation: Validation, *, run_id: str | None) -> dict[str, Any]:
    """Return what the validation of a thread's latest draft changes in it."""
    last = now.rounds[-1].evolve(checks=validation.checks, validator_return=validation.ret)
    return {
        "rounds": (*now.rounds[:-1], last),
        "validator_task_id": run_id,
        "validator_return": validation.ret,
        "usage": total_usage(now.usage, validation.usage),
    }


class Validator(Protocol):
    """Judges the latest draft of a thread."""

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        """Return the verdict on `state.investigator_return`; raises ProviderError when not even code can check it.

        `summaries` has one line for each other open thread.
        """


@dataclass(frozen=True, slots=True)
class CodeValidator:
    """Port Validator: free, deterministic, the same answer every time.

    With `team_language` a draft may be in that language, whatever the question's is.
    """

    codebase: Repositories
    notes: NoteStore
    runs: RunRecorder
    clock: Clock
    secrets: Collection[str] = field(default=(), kw_only=True)
    team_language: str | None = field(default=None, kw_only=True)

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,  # noqa: ARG002 - the port's
        summaries: Sequence[str] = (),  # noqa: ARG002 - code cannot compare answers
        on_progress: OnProgress | None = None,  # noqa: ARG002 - it is done before anybody could ask
    ) -> Validation:
        """Return the verdict of the code checks on the thread's latest draft; raises ProviderError when git fails."""
        assert state.investigator_return is not None
        sources = self.sources(state)
        checks = check_return(
            state.investigator_return,
            repo=sources.repo,
            ledger=sources.ledger,
            rubric=rubric_for(state.question_type),
            notes=self.notes,
            known_secrets=self.secrets,
            question=state.question,
            team_language=self.team_language,
        )
        return Validation(ret=verdict_of_checks(checks, at=self.clock.now()), checks=tuple(checks))

    def sources(self, state: ThreadState) -> Sources:
        """Return where the citations of a thread's latest draft are looked up.

        An investigator's run whose record is gone has read nothing that can be shown.
        """
        read = self.runs.ledger(state.investigator_task_id) if state.investigator_task_id else None
        return Sources(self.codebase, read or Ledger(), self.notes, self.secrets)
