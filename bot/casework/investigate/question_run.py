"""Investigates, checks and validates one question once, without a chat.

Each run leaves its record under runs/. Nothing is posted, and no thread is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.agent.model_run import progress_line
from bot.agent.run_records import RunRecorder
from bot.casework.checks.validation import Validation, Validator
from bot.casework.investigate.assignment import Assignment, Investigation, Investigator, ThreadMessage, corrected_type
from bot.domain.questions.rubrics import question_type_of, rubric_for
from bot.domain.returns import Usage, total_usage
from bot.domain.threads import Round, ThreadState
from bot.errors import TriageError
from bot.ports import Clock, NoteIndex

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionRun:
    """What came of a question; `state` has its draft."""

    state: ThreadState
    run_id: str
    validation_id: str
    found: Investigation
    validation: Validation

    @property
    def usage(self) -> Usage:
        """What all runs cost."""
        return total_usage(self.state.usage, self.validation.usage)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionRunner:
    """Who investigates and who validates a question, and where that is recorded."""

    investigator: Investigator
    validator: Validator
    runs: RunRecorder
    memory: NoteIndex
    clock: Clock
    home: Path
    """Of the records, to be named where a run fails."""

    def run(self, question: str, *, say: Say, earlier: Sequence[ThreadMessage] = ()) -> QuestionRun:
        """Return what came of a question with its first draft, telling `say` how it goes.

        `earlier` is what stood in the thread before the question, oldest first.

        Raises:
            TriageError: as the investigator, the validator and the record do.
        """
        state = self._opened(question)
        run_id, validation_id = f"{state.thread_id}-r1", f"{state.thread_id}-v1"
        try:
            found = self._investigated(state, run_id, say, tuple(earlier))
        except TriageError:
            say(f"record: {self.home / 'runs' / run_id} (run.log has what happened)")
            raise
        say("checking citations, then validating the draft …")
        state = state.evolve(
            investigator_task_id=run_id,
            investigator_return=found.ret,
            investigator_round=1,
            usage=found.usage,
            rounds=(Round(round=1, investigator_return=found.ret),),
            **corrected_type(state, found.ret),
        )
        with self.runs.recording(validation_id, "validation") as run:
            validation = self.validator.validate(state, run_id=validation_id)
            run.trace = validation.as_trace()
        return QuestionRun(state=state, run_id=run_id, validation_id=validation_id, found=found, validation=validation)

    def _investigated(
        self, state: ThreadState, run_id: str, say: Say, earlier: tuple[ThreadMessage, ...]
    ) -> Investigation:
        assignment = Assignment(
            question=state.question,
            question_type=state.question_type,
            rubric=state.rubric or "",
            round=1,
            memory_hits=tuple(self.memory.search(state.question)),
            thread_context=earlier,
            earlier=tuple(one.text for one in earlier),
        )
        with self.runs.recording(run_id, "round 1") as run:
            found = self.investigator.investigate(
                assignment, run_id=run_id, on_progress=lambda progress: say(f"  {progress_line(progress)}")
            )
            run.trace, run.transcript = found.as_trace(), found.as_transcript(assignment)
            run.products = found.as_products()
        return found

    def _opened(self, question: str) -> ThreadState:
        """Return a thread that stands nowhere but here, for the validator to look at."""
        now, kind = self.clock.now(), question_type_of(question)
        ts = f"{now.timestamp():.6f}"
        return ThreadState(
            thread_id=f"terminal.question.{ts}",
            team_id="terminal",
            chat_id="question",
            original_message_id=ts,
            original_sender_id="terminal",
            question=question,
            question_type=kind,
            rubric=rubric_for(kind).render(),
            started_at=now,
            last_event_at=now,
        )
