"""Attacks a draft before a human sees it. The deterministic checks come first; alone, they give the verdict.

A validator that uses a model answers to the same Protocol and is handed the same check results; it can only make a
verdict stricter (bot/casework/verdict.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.casework.checks import check_return
from bot.casework.runs import RunRecorder
from bot.casework.verdict import verdict_of_checks
from bot.domain.returns import Check, ValidatorReturn
from bot.domain.rubrics import rubric_for
from bot.domain.threads import ThreadState
from bot.ports import Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """A verdict and the checks it rests on."""

    ret: ValidatorReturn
    checks: tuple[Check, ...]


class Validator(Protocol):
    """Judges the latest draft of a thread."""

    def validate(self, state: ThreadState) -> Validation:
        """Return the verdict on `state.investigator_return`; raises ProviderError when there can be none."""
        ...


class CodeValidator:
    """The checks of SPEC §4.3 and nothing else: free, deterministic, the same answer every time."""

    def __init__(self, codebase: Path, memory: Path, runs: RunRecorder, clock: Clock) -> None:
        self._codebase, self._memory, self._runs, self._clock = codebase, memory, runs, clock

    def validate(self, state: ThreadState) -> Validation:
        """Return the verdict of the code checks on the thread's latest draft."""
        assert state.investigator_return is not None
        ledger = self._runs.ledger(state.investigator_task_id) if state.investigator_task_id else None
        checks = check_return(
            state.investigator_return,
            repo=self._codebase,
            ledger=ledger,
            rubric=rubric_for(state.question_type),
            memory=self._memory,
        )
        return Validation(ret=verdict_of_checks(checks, at=self._clock.now()), checks=tuple(checks))
