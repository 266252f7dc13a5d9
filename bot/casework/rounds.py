"""Investigates and validates, and once more if the checks object: from `investigating` to `pending-user`.

Reads only the thread's state and structured returns, and counts their size as `orchestrator_tokens`. Every step
re-reads the state before it writes, so a human's click in the meantime wins. A run's cost is added to the thread's
usage whether it succeeded or not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from bot.agent.model_run import ModelUnavailable, OnProgress, RunFailed, RunStopped
from bot.agent.run_records import RunRecord, RunRecorder
from bot.casework.checks.validation import Validation, Validator, changes_of_validation
from bot.casework.escalate.escalations import Escalations
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
from bot.casework.posting.auto_replies import AutoReplies
from bot.casework.posting.replies import Replies
from bot.casework.thread_service import ThreadService
from bot.casework.waiting_rounds import WaitingRounds
from bot.domain.drafts import propose_draft
from bot.domain.returns import CODE_CHECKS, Usage, ValidatorReturn, Verdict, total_usage
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.errors import Away, CodebaseUnreadable, TriageError
from bot.ports import ChatMessage

log = logging.getLogger(__name__)


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
        self._waiting = WaitingRounds(service)
        self._steps: dict[ThreadStatus, Callable[[ThreadState], None]] = {
            ThreadStatus.INVESTIGATING: self._investigate,
            ThreadStatus.BOUNCED: self._investigate,
            ThreadStatus.AWAITING_VALIDATION: self._validate,
        }

    def run(self, thread_id: str) -> None:
        """Take steps until the thread waits for a human or a long run, or is closed; a ready draft may be sent then."""
        state = self._service.store.get(thread_id)
        if state is not None and state.status in self._steps:
            self._service.asker.begin(state)
        while (state := self._service.store.get(thread_id)) is not None and state.status in self._steps:
            if self._waiting.is_early(state):
                return
            self._take_step(state)
            self._service.cards.show_card(thread_id)
        if state is not None and state.status is ThreadStatus.ESCALATED:
            self._escalations.launch(thread_id)
        self._auto.consider(thread_id)

    def _take_step(self, state: ThreadState) -> None:
        """Take one step, or put it off while the model's provider or the codebase is away."""
        try:
            self._steps[state.status](state)
        except (CodebaseUnreadable, ModelUnavailable) as error:
            if not self._waiting.put_off(state.thread_id, error):
                why = f"it waited too long (`expire_after`): {error}"
                self._save(state, lambda now: self._given_up(now, why))

    def _investigate(self, state: ThreadState) -> None:
        """One run of the investigator; what it could not do goes to the human, never to silence."""
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
        try:
            with self._running(state, run_id, f"round {number}") as (report, run):
                found = self._investigator.investigate(assignment, run_id=run_id, on_progress=report)
                run.trace, run.transcript = found.as_trace(), found.as_transcript(assignment)
                run.products = found.as_products()
        except (RunStopped, ModelUnavailable, Away):
            raise  # it is done again later; nobody could do anything on the card
        except TriageError as error:
            if (why := self._escalations.run_after(state, error)) is None:
                self._failed(state, "the investigation failed", error)
            else:
                usage = _with(state.usage, _spent(error))
                self._save(state, partial(self._escalations.escalated, why=why, usage=usage))
            return
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
        try:
            with self._running(state, run_id, "validation") as (report, run):
                validation = self._validator.validate(state, run_id=run_id, summaries=others, on_progress=report)
                run.trace = validation.as_trace()
        except (RunStopped, ModelUnavailable, Away):
            raise
        except TriageError as error:
            self._failed(state, "the draft could not be validated", error)
            return
        self._save(state, lambda now: self._validated(now, validation, run_id))

    def _validated(self, now: ThreadState, validation: Validation, run_id: str) -> ThreadState:
        verdict = validation.ret
        known = changes_of_validation(now, validation, run_id=run_id)
        if verdict is None:
            return self._given_up(now, f"the draft could not be validated: {validation.problem}", **known)
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

    def _failed(self, state: ThreadState, what: str, error: TriageError) -> None:
        """Hand the thread to the human with the reason; what the failed run cost is counted."""
        log.exception("%s", what, extra={"action": "step_failed", "thread_id": state.thread_id})
        spent = _spent(error)
        self._save(state, lambda now: self._given_up(now, f"{what}: {error}", usage=_with(now.usage, spent)))

    @contextmanager
    def _running(self, state: ThreadState, run_id: str, what: str) -> Iterator[tuple[OnProgress, RunRecord]]:
        """Show how far a run is and record it; what one cost that is made again later is counted."""
        try:
            with self._service.cards.progress_of(state.thread_id) as report, self._runs.recording(run_id, what) as run:
                yield report, run
        except (RunStopped, ModelUnavailable) as error:
            spent = error.usage
            self._save(state, lambda now: now.evolve(usage=_with(now.usage, spent)))
            raise

    def _as_asked_now(self, state: ThreadState, thread: Sequence[ChatMessage]) -> ThreadState:
        """Return the thread with its question as it reads now: an edit nobody told us of is answered as well."""
        said = next((message.text for message in thread if message.message_id == state.original_message_id), "")
        question = said.encode("utf-8", "replace").decode()
        if not question.strip() or question == state.question:
            return state
        return self._save(state, lambda now: now.evolve(question=question)) or state

    def _given_up(self, now: ThreadState, why: str, **known: Any) -> ThreadState:
        at = self._service.clock.now()
        return now.transition(ThreadStatus.PENDING_USER, at=at, why=why, reason=PendingReason.FAILED, **known)

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
    """Return what a failed run cost, where it says so."""
    return error.usage if isinstance(error, RunFailed) else None


def _with(usage: Usage | None, more: Usage | None) -> Usage | None:
    """Return both together; None where no run has cost anything yet."""
    return usage if more is None else total_usage(usage, more)
