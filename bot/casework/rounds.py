"""Investigate, check, and once more if the checks object: from `investigating` to `pending-user`.

Reads the thread's state and structured returns only; what that reading amounts to is counted as `orchestrator_tokens`
(UTF-8 bytes / 4). Every step re-reads the state before it writes, so a human's click in the meantime wins.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from bot.casework.desk import Desk
from bot.casework.investigator import Assignment, Investigation, Investigator
from bot.casework.runs import RunRecorder
from bot.casework.validator import Validation, Validator
from bot.domain.passages import MemoryHit
from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason, Round, Status, ThreadState
from bot.errors import ProviderError, TriageError
from bot.ports import ChatMessage

log = logging.getLogger(__name__)


class Rounds:
    """Runs the machine's part of a thread's life."""

    def __init__(self, desk: Desk, investigator: Investigator, validator: Validator, runs: RunRecorder) -> None:
        self._desk = desk
        self._investigator = investigator
        self._validator = validator
        self._runs = runs
        self._steps: dict[Status, Callable[[ThreadState], None]] = {
            Status.INVESTIGATING: self._investigate,
            Status.BOUNCED: self._investigate,
            Status.AWAITING_VALIDATION: self._validate,
        }

    def run(self, thread_id: str) -> None:
        """Take steps until the thread waits for a human or is closed."""
        while (state := self._desk.store.get(thread_id)) is not None and state.status in self._steps:
            self._steps[state.status](state)
            self._desk.show(thread_id)

    def _investigate(self, state: ThreadState) -> None:
        """One run of the investigator; what it could not do goes to the human, never to silence."""
        thread = self._read_thread(state)
        state = self._as_asked_now(state, thread)
        number = state.investigator_round + 1
        run_id = f"{state.thread_id}-{self._desk.clock.now():%Y%m%dT%H%M%SZ}-r{number}"
        assignment, tokens = self._assign(state, number, thread)
        try:
            found = self._runs.record(
                run_id, assignment, lambda: self._investigator.investigate(assignment, run_id=run_id)
            )
        except TriageError as error:
            log.exception(
                "investigation failed", extra={"action": "investigation_failed", "thread_id": state.thread_id}
            )
            self._fail(state, f"the investigation failed: {error}")
            return
        self._save(state, lambda now: self._investigated(now, found, run_id, tokens))

    def _investigated(self, now: ThreadState, found: Investigation, run_id: str, tokens: int) -> ThreadState:
        ret = found.ret.model_copy(update={"investigator_round": now.investigator_round + 1})
        known: dict[str, Any] = {
            "investigator_task_id": run_id,
            "investigator_round": ret.investigator_round,
            "investigator_return": ret,
            "rounds": (*now.rounds, Round(round=ret.investigator_round, investigator_return=ret)),
            "usage": found.usage,
            "orchestrator_tokens": (now.orchestrator_tokens or 0) + tokens + _tokens([ret.summary_for_orchestrator]),
        }
        at = self._desk.clock.now()
        if not ret.draft_reply.strip() and now.status is Status.INVESTIGATING:
            why = "the investigator needs to know more"
            return now.transition(Status.PENDING_USER, at=at, why=why, reason=PendingReason.CONTEXT, **known)
        return now.transition(
            Status.AWAITING_VALIDATION, at=at, why=f"draft of round {ret.investigator_round}", **known
        )

    def _validate(self, state: ThreadState) -> None:
        """Have the draft attacked, then branch: to the human, or back once with the reasons."""
        try:
            validation = self._validator.validate(state)
        except TriageError as error:
            log.exception("validation failed", extra={"action": "validation_failed", "thread_id": state.thread_id})
            self._fail(state, f"the draft could not be validated: {error}")
            return
        self._save(state, lambda now: self._validated(now, validation))

    def _validated(self, now: ThreadState, validation: Validation) -> ThreadState:
        verdict, at = validation.ret, self._desk.clock.now()
        last = now.rounds[-1].model_copy(update={"checks": validation.checks, "validator_return": verdict})
        known: dict[str, Any] = {
            "rounds": (*now.rounds[:-1], last),
            "validator_return": verdict,
            "orchestrator_tokens": (now.orchestrator_tokens or 0) + _tokens([*verdict.reasons]),
        }
        again = now.investigator_round < self._desk.settings.investigator.max_rounds
        if verdict.verdict is Verdict.BOUNCE and again:
            return now.transition(Status.BOUNCED, at=at, why=verdict.bounce_feedback or "bounced", **known)
        assert now.investigator_return is not None
        passed = verdict.verdict is Verdict.PASS
        return now.with_draft(now.investigator_return.draft_reply).transition(
            Status.PENDING_USER,
            at=at,
            why="validated" if passed else f"verdict {verdict.verdict}",
            reason=PendingReason.APPROVAL if passed else PendingReason.DISAGREEMENT,
            **known,
        )

    def _assign(self, state: ThreadState, number: int, thread: Sequence[ChatMessage]) -> tuple[Assignment, int]:
        """Return the investigator's assignment and what reading it cost the orchestrator, in tokens."""
        hits = self._desk.memory.search(state.question)
        summaries = tuple(_summary(other) for other in self._desk.open_threads() if other.thread_id != state.thread_id)
        feedback = state.validator_return.bounce_feedback if state.validator_return and number > 1 else None
        context = tuple(entry.text for entry in state.human_context)
        assignment = Assignment(
            question=state.question,
            question_type=state.question_type,
            rubric=state.rubric or "",
            round=number,
            thread_context=_conversation(state, thread),
            human_context=context,
            summaries=summaries,
            memory_hits=tuple(hits),
            feedback=feedback,
        )
        read = [state.question, state.rubric or "", feedback or "", *context, *summaries, *map(_line, hits)]
        return assignment, _tokens(read)

    def _read_thread(self, state: ThreadState) -> Sequence[ChatMessage]:
        """Return the thread's messages, oldest first; empty where the chat cannot say."""
        try:
            return self._desk.workspace.thread(state.chat_id, state.thread_ts)
        except ProviderError:
            log.warning("thread could not be read", extra={"action": "thread_unread", "thread_id": state.thread_id})
            return ()

    def _as_asked_now(self, state: ThreadState, thread: Sequence[ChatMessage]) -> ThreadState:
        """Return the thread with its question as it reads now: an edit nobody told us of is answered as well."""
        said = next((message.text for message in thread if message.message_id == state.original_message_id), "")
        question = said.encode("utf-8", "replace").decode()
        if not question.strip() or question == state.question:
            return state
        return self._save(state, lambda now: now.evolve(question=question)) or state

    def _fail(self, state: ThreadState, why: str) -> None:
        at = self._desk.clock.now()
        self._save(state, lambda now: now.transition(Status.PENDING_USER, at=at, why=why, reason=PendingReason.FAILED))

    def _save(self, before: ThreadState, change: Callable[[ThreadState], ThreadState]) -> ThreadState | None:
        """Apply a result unless the thread moved on while the work ran; returns the new state, or None."""
        return self._desk.amend(
            before.thread_id,
            lambda now: change(now) if (now.status, now.rounds) == (before.status, before.rounds) else None,
        )


def _conversation(state: ThreadState, thread: Sequence[ChatMessage]) -> tuple[str, ...]:
    """Return what people said in the thread besides the question."""
    return tuple(
        f"{message.sender_id}: {message.text}"
        for message in thread
        if message.message_id != state.original_message_id and not message.is_bot
    )


def _summary(state: ThreadState) -> str:
    """Return one line on an open thread for the others to know of."""
    return f"{state.thread_id} [{state.status}] {' '.join(state.question.split())[:100]}"


def _line(hit: MemoryHit) -> str:
    return f"{hit.ref} {hit.title} {hit.excerpt}"


def _tokens(read: Sequence[str]) -> int:
    """Return what reading these texts costs, by the measure of SPEC §4.1: UTF-8 bytes / 4."""
    return sum(len(text.encode("utf-8", "replace")) for text in read) // 4
