"""The validator that needs no model: the checks of SPEC §4.3, and the verdict they come to by themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.run_records import RunRecorder
from bot.casework.validate.validation import Validation, verdict_of_checks
from bot.domain.questions.rubrics import rubric_for
from bot.domain.text.language import is_in_language
from bot.domain.threads import ThreadState
from bot.ports import Clock


class CodeValidator:
    """Port Validator: free, deterministic, the same answer every time.

    With `team_language` a question in that language wants an answer in it; a foreign one its own.
    """

    def __init__(
        self,
        codebase: Path,
        memory: Path,
        runs: RunRecorder,
        clock: Clock,
        *,
        secrets: Collection[str] = (),
        team_language: str | None = None,
    ) -> None:
        self._codebase, self._memory, self._runs, self._clock = codebase, memory, runs, clock
        self._secrets, self._team_language = secrets, team_language

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
        ledger = self._runs.ledger(state.investigator_task_id) if state.investigator_task_id else None
        # a run whose record is gone has read nothing that can be shown
        checks = check_return(
            state.investigator_return,
            repo=self._codebase,
            ledger=ledger or Ledger(),
            rubric=rubric_for(state.question_type, language=self._language_for(state.question)),
            memory=self._memory,
            known_secrets=self._secrets,
        )
        return Validation(ret=verdict_of_checks(checks, at=self._clock.now()), checks=tuple(checks))

    def _language_for(self, question: str) -> str | None:
        team = self._team_language
        return team if team and is_in_language(question, team) else None
