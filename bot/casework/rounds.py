"""Investigates and validates, and once more if the checks object: from `investigating` to `pending-user`.

Reads only the thread's state and structured returns, and counts their size as `orchestrator_tokens`. What a step comes
to is a function of the thread as it stands then, saved once, so a human's click in the meantime wins. A run's cost is
added to the thread's usage whether it succeeded or not.

While the model's provider or the codebase is away the thread waits: its record says until when, so a restart keeps it,
and no job waits in the queue. `tick` queues what is due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

from bot.agent.model_run import ModelUnavailable, OnProgress, RunCancelled, RunFailed, RunStopped
from bot.agent.run_records import RunRecord, RunRecorder
from bot.casework.checks.validation import Validation, Validator, changes_of_validation
from bot.casework.escalations import Escalations
from bot.casework.investigate.assignment import (
    Investigation,
    Investigator,
    build_assignment,
    changes_of_return,
    count_tokens,
    read_thread,
    summaries,
    words_of_verdict,
)
from bot.casework.live_work import fold_left, follow_run
from bot.casework.posting.auto_replies import AutoReplies
from bot.casework.posting.replies import Replies
from bot.casework.thread_service import ThreadService
from bot.domain.drafts import propose_draft
from bot.domain.returns import CODE_CHECKS, Usage, ValidatorReturn, Verdict, total_usage
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.domain.waits import Wait, WaitFor, next_wait
from bot.errors import Away, CodebaseUnreadable, TriageError
from bot.ports import ChatMessage

log = logging.getLogger(__name__)


WHAT_FAILED: Final = {
    ThreadStatus.INVESTIGATING: "the investigation failed",
    ThreadStatus.BOUNCED: "the investigation failed",
    ThreadStatus.AWAITING_VALIDATION: "the draft could not be validated",
}


class _StepFailed(Exception):
    """A run ended without a result, for which it is not tried again by itself."""

    def __init__(self, error: TriageError) -> None:
        super().__init__(str(error))
        self.error = error


class Rounds:
    """Runs the machine's part of a thread's life."""

    def __init__(
        self,
        service: ThreadService,
        investigator: Investigator,
        validator: Validator,
        runs: RunRecorder,
        escalations: Escalations,
        replies: Replies,
        auto: AutoReplies,
    ) -> None:
        self._service, self._replies, self._auto = service, replies, auto
        self._investigator = investigator
        self._validator = validator
        self._runs = runs
        self._escalations = escalations
        self._steps: dict[ThreadStatus, Callable[[ThreadState], None]] = {
            ThreadStatus.INVESTIGATING: self._investigate,
            ThreadStatus.BOUNCED: self._investigate,
            ThreadStatus.AWAITING_VALIDATION: self._validate,
        }

    def run(self, thread_id: str) -> None:
        """Take steps until the thread waits for a human or a long run, or is closed; a ready draft may be sent then.

        A draft that does not know of a question in its thread is made anew.
        """
        fold_left(self._service, thread_id)
        state = self._state(thread_id)
        if state is not None and state.status in self._steps:
            self._service.asker.begin(state)
        while (state := self._state(thread_id)) is not None and state.status in self._steps:
            if self._is_early(state):
                return
            self._take_step(state)
            self._service.cards.show_card(thread_id)
        if state is not None and state.status is ThreadStatus.ESCALATED:
            self._escalations.launch(thread_id)
        self._auto.consider(thread_id)

    def _state(self, thread_id: str) -> ThreadState | None:
        """Return the thread, sent back to the investigator if somebody asked more during the run."""
        at, why = self._service.clock.now(), "somebody asked more in the thread during the run"
        return self._service.store.amend(
            thread_id, lambda now: now.reopened(at=at, why=why) if now.is_asked_more else now
        )

    def tick(self) -> None:
        """Queue the threads whose wait is over, or that were asked more during a long run; raises StoreError."""
        for state in self._service.store.open_threads():
            is_due = state.is_at_work and state.wait is not None and not self._is_early(state)
            if is_due or state.is_asked_more:
                self._service.queue(state.thread_id, unless_queued=True)

    def _is_early(self, state: ThreadState) -> bool:
        return state.wait is not None and state.wait.is_early(self._service.clock.now())

    def _take_step(self, state: ThreadState) -> None:
        """Take one step; what it could not do goes to the human or is done later, never to silence."""
        try:
            self._steps[state.status](state)
        except (CodebaseUnreadable, ModelUnavailable) as error:
            away = error
            saved = self._save(state, lambda now: self._put_off(now, away))
            if saved is not None and saved.wait is not None:
                level = logging.WARNING if saved.wait.tries == 1 else logging.INFO
                extra = {"action": "question_waits", "thread_id": state.thread_id}
                log.log(level, "a question waits: %s", error, extra=extra)
        except RunStopped:
            raise
        except RunCancelled:
            log.info("a run was stopped", extra={"action": "run_stopped", "thread_id": state.thread_id})
        except _StepFailed as failed:
            extra = {"action": "step_failed", "thread_id": state.thread_id}
            log.exception("%s", WHAT_FAILED[state.status], extra=extra)
            error_of_run = failed.error
            self._save(state, lambda now: self._failed(now, error_of_run))

    def _put_off(self, now: ThreadState, error: ModelUnavailable | CodebaseUnreadable) -> ThreadState:
        """Return the thread with when it is tried again; one that has waited for `expire_after` is a human's."""
        at, longest = self._service.clock.now(), self._service.settings.expire_after
        wait, usage = _wait_after(now.wait, error, at), _with(now.usage, _spent(error))
        if longest is not None and at - wait.since >= longest:
            return now.failed(at=at, why=f"it waited too long (`expire_after`): {error}", usage=usage)
        return now.evolve(wait=wait, usage=usage)

    def _failed(self, now: ThreadState, error: TriageError) -> ThreadState:
        """Return the thread after a run that failed: a longer run where its time was too short, else a human's."""
        usage = _with(now.usage, _spent(error))
        may_escalate = now.status is not ThreadStatus.AWAITING_VALIDATION
        if may_escalate and (why := self._escalations.run_after(now, error)) is not None:
            return self._escalations.escalated(now, why, usage=usage)
        return now.failed(at=self._service.clock.now(), why=f"{WHAT_FAILED[now.status]}: {error}", usage=usage)

    def _investigate(self, state: ThreadState) -> None:
        """One run of the investigator, unless the question was answered already or wants a long run."""
        thread = read_thread(self._service, state)
        if self._replies.adopt_standing(state, thread):
            return
        state = self._as_asked_now(state, thread)
        if (why := self._escalations.expected(state)) is not None:
            self._save(state, partial(self._escalations.escalated, why=why))
            return
        number = state.investigator_round + 1
        run_id = self._run_id(state, f"r{number}")
        assignment, read = build_assignment(self._service, state, number, thread)
        with self._running(state, run_id, f"round {number}") as (report, run):
            found = self._investigator.investigate(assignment, run_id=run_id, on_progress=report)
            run.trace, run.transcript = found.as_trace(), found.as_transcript(assignment)
            run.products = found.as_products()
        self._save(state, lambda now: self._investigated(now, found, run_id, read))

    def _investigated(self, now: ThreadState, found: Investigation, run_id: str, read: int) -> ThreadState:
        ret, by = found.ret, found.investigator
        points = self._service.settings.rubrics
        known = changes_of_return(now, ret, run_id=run_id, usage=found.usage, investigator=by, read=read, points=points)
        if (why := self._escalations.asked_for(now, ret)) is not None:
            return self._escalations.escalated(now, why, **known)
        at = self._service.clock.now()
        is_asking = bool(ret.open_questions) and not ret.draft_reply.strip()
        if is_asking and now.status is ThreadStatus.INVESTIGATING:
            why = "the investigator needs to know more"
            return now.transition(ThreadStatus.PENDING_USER, at=at, why=why, reason=PendingReason.CONTEXT, **known)
        return now.transition(
            ThreadStatus.AWAITING_VALIDATION, at=at, why=f"draft of round {known['investigator_round']}", **known
        )

    def _validate(self, state: ThreadState) -> None:
        """Have the draft attacked, then branch: to the human, or back once with the reasons."""
        run_id = self._run_id(state, f"v{state.investigator_round}")
        others = summaries(self._service, state)
        with self._running(state, run_id, "validation") as (report, run):
            validation = self._validator.validate(state, run_id=run_id, summaries=others, on_progress=report)
            run.trace = validation.as_trace()
        self._save(state, lambda now: self._validated(now, validation, run_id))

    def _validated(self, now: ThreadState, validation: Validation, run_id: str) -> ThreadState:
        verdict = validation.ret
        known = changes_of_validation(now, validation, run_id=run_id)
        if verdict is None:
            why = f"{WHAT_FAILED[now.status]}: {validation.problem}"
            return now.failed(at=self._service.clock.now(), why=why, **known)
        known["orchestrator_tokens"] = (now.orchestrator_tokens or 0) + count_tokens(
            words_of_verdict(verdict, validation.checks)
        )
        return self._judged(now, verdict, known)

    def _judged(self, now: ThreadState, verdict: ValidatorReturn, known: dict[str, Any]) -> ThreadState:
        """Branch on a verdict: a first bounce goes back with its feedback, all else to the human."""
        settings, at = self._service.settings, self._service.clock.now()
        again = now.investigator_round < settings.investigator.max_rounds
        if verdict.verdict is Verdict.BOUNCE and again:
            return now.transition(ThreadStatus.BOUNCED, at=at, why=verdict.bounce_feedback or "bounced", **known)
        assert now.investigator_return is not None
        passed = verdict.verdict is Verdict.PASS
        return propose_draft(now, now.investigator_return.draft_reply).transition(
            ThreadStatus.PENDING_USER,
            at=at,
            why=_why_passed(verdict) if passed else f"verdict {verdict.verdict}",
            reason=PendingReason.APPROVAL if passed else PendingReason.DISAGREEMENT,
            **known,
        )

    def _run_id(self, state: ThreadState, suffix: str) -> str:
        return f"{state.thread_id}-{self._service.clock.now():%Y%m%dT%H%M%SZ}-{suffix}"

    @contextmanager
    def _running(self, state: ThreadState, run_id: str, what: str) -> Iterator[tuple[OnProgress, RunRecord]]:
        """Show how far a run is and record it.

        Raises:
            RunStopped, ModelUnavailable, CodebaseUnreadable, Away: it is done again later; nobody could do anything on
                the card.
            RunCancelled: somebody stopped it; what it cost is on file.
            _StepFailed: anything else went wrong with it.
        """
        try:
            with follow_run(self._service, state, what) as report, self._runs.recording(run_id, what) as run:
                yield report, run
        except RunCancelled as error:
            spent = error.usage
            self._service.store.amend(state.thread_id, lambda now: now.evolve(usage=_with(now.usage, spent)))
            raise
        except (ModelUnavailable, CodebaseUnreadable, Away):
            raise
        except TriageError as error:
            raise _StepFailed(error) from error

    def _as_asked_now(self, state: ThreadState, thread: Sequence[ChatMessage]) -> ThreadState:
        """Return the thread with its question as it reads now: an edit nobody told us of is answered as well."""
        said = next((message.text for message in thread if message.message_id == state.original_message_id), "")
        question = said.encode("utf-8", "replace").decode()
        if not question.strip() or question == state.question:
            return state
        return self._save(state, lambda now: now.evolve(question=question)) or state

    def _save(self, before: ThreadState, change: Callable[[ThreadState], ThreadState]) -> ThreadState | None:
        """Apply a result unless the thread moved on while the work ran; returns the new state, or None."""
        while (now := self._service.store.get(before.thread_id)) is not None:
            if (now.status, now.rounds) != (before.status, before.rounds):
                return None
            if (saved := self._service.store.put_if_newest(change(now))) is not None:
                return saved
        return None


def _why_passed(verdict: ValidatorReturn) -> str:
    if verdict.validator_model == CODE_CHECKS:
        return "passed the code checks"
    return f"checked by a second model, {verdict.validator_model}"


def _spent(error: TriageError) -> Usage | None:
    """Return what a run cost that came to nothing, where it says so."""
    return error.usage if isinstance(error, RunFailed | ModelUnavailable) else None


def _with(usage: Usage | None, more: Usage | None) -> Usage | None:
    """Return both together; None where no run has cost anything yet."""
    return usage if more is None else total_usage(usage, more)


def _wait_after(before: Wait | None, error: ModelUnavailable | CodebaseUnreadable, at: datetime) -> Wait:
    if isinstance(error, CodebaseUnreadable):
        return next_wait(before, WaitFor.CODEBASE, at=at)
    return next_wait(before, WaitFor.MODEL, at=at, why=error.code or "", retry_after_s=error.retry_after_s)
