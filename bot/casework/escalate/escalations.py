"""Decides whether a question needs a long run, and starts the run in a process of its own.

The thread's state is `escalated` before anything is started; `launch` starts what is missing and can be repeated after
any crash. bot/casework/escalate/escalation_watch.py watches the run.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.agent.budget import Allowance, Budget
from bot.agent.model_run import RunTimedOut
from bot.casework.escalate.long_run import EscalationFolder, EscalationRequest
from bot.casework.investigate.assignment import build_assignment, read_thread
from bot.casework.thread_service import ThreadService
from bot.domain.questions.escalation_rules import expected_minutes, session_name
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.errors import ConfigError, InputError, StoreError, TriageError, refused
from bot.ports import Lease, Leases, Terminal

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class LongRuns:
    """Where long runs happen, and with what.

    `argv` is the command that a run's folder is appended to, `has_model` whether anybody could carry one out, and
    `spending` the budget their money is set aside from (None: nothing is limited).
    """

    terminal: Terminal
    folder: Path
    argv: Sequence[str]
    environment: Mapping[str, str]
    has_model: bool
    spending: Budget | None = None
    allowance: Allowance | None = None
    transcripts: Path | None = None
    """Where their transcripts are written; None: in each run's folder."""
    leases: Leases | None = None
    """Where other replicas may have the run of a thread; None where no other process does."""
    held: dict[str, Lease] = field(default_factory=dict)
    """The runs that are this replica's, by their thread."""

    def folder_of(self, thread_id: str) -> EscalationFolder:
        """Return a thread's folder."""
        return EscalationFolder(self.folder / thread_id, self.transcripts)

    def is_ours(self, thread_id: str) -> bool:
        """Whether a thread's run belongs to this replica, from now on at the latest; raises StoreError."""
        if self.leases is None or (thread_id in self.held and self.held[thread_id].is_held):
            return True
        try:
            self.held[thread_id] = self.leases.take(f"run.{thread_id}")
        except ConfigError:  # the replica that started it lives
            self.held.pop(thread_id, None)
            return False
        return True

    def let_go(self, thread_id: str) -> None:
        """Have a thread's run belong to nobody."""
        if (lease := self.held.pop(thread_id, None)) is not None:
            with suppress(StoreError):  # it expires
                lease.release()


class Escalations:
    """Decides on long investigations and starts them."""

    def __init__(self, service: ThreadService, runs: LongRuns) -> None:
        self._service, self._runs = service, runs

    def expected(self, state: ThreadState) -> str | None:
        """Return why a question should be escalated before its first round, or None."""
        if not self._machine_may(state) or state.investigator_round or state.status is not ThreadStatus.INVESTIGATING:
            return None
        minutes = expected_minutes(state.question, state.question_type)
        if minutes < self._service.settings.escalation.expected_runtime_min_threshold:
            return None
        return f"expected to take about {minutes} min"

    def asked_for(self, state: ThreadState, ret: InvestigatorReturn) -> str | None:
        """Return why an investigator wants more time, or None where it does not or has had it."""
        if not ret.escalation_requested or not self._machine_may(state):
            return None
        return f"the investigator asked for more time: {ret.escalation_reason or 'no reason given'}"

    def run_after(self, state: ThreadState, error: TriageError) -> str | None:
        """Return why a run that failed calls for a longer one, or None: only the limit of its whole time does."""
        if not isinstance(error, RunTimedOut) or error.timeout_kind != "total" or not self._machine_may(state):
            return None
        return f"{(error.timeout_s or 0) / 60:.2g} min were not enough"

    def escalated(self, state: ThreadState, why: str, **known: Any) -> ThreadState:
        """Return the thread escalated; `launch` does the rest."""
        at, unknown = (
            self._service.clock.now(),
            dict.fromkeys(("escalation_tmux_session", "escalation_transcript_path")),
        )
        return state.transition(ThreadStatus.ESCALATED, at=at, why=why, is_escalated=True, **unknown, **known)

    def by_hand(self, state: ThreadState, by: str) -> ThreadState:
        """Return a waiting thread escalated by a human; the investigator's draft is withdrawn, a human's text stays.

        Raises:
            InputError: it is switched off, or there is no model to do it.
        """
        if not self._service.settings.escalation.enabled:
            raise InputError("Long investigations are switched off here (`escalation.enabled` in triage.yml).")
        if not self._runs.has_model:
            raise InputError(
                "A long investigation needs a model, and triage works offline here: set ANTHROPIC_API_KEY, or name a "
                "harness in `escalation.command`. Re-investigate searches the code again."
            )
        return self.escalated(state, f"<@{by}> asked for a long investigation", by=by, **state.withdrawal)

    def launch(self, thread_id: str) -> None:
        """Start the run of an escalated thread unless it has been; what cannot be started goes to the human."""
        state = self._service.store.get(thread_id)
        if state is None or state.status is not ThreadStatus.ESCALATED or not self._runs.is_ours(thread_id):
            return
        try:
            self._start(state)
        except TriageError as error:
            log.exception("long run not started", extra={"action": "escalation_failed", "thread_id": thread_id})
            abandon(self._service, state, f"the long investigation could not be started: {error}")

    def _start(self, state: ThreadState) -> None:
        folder, session = self._runs.folder_of(state.thread_id), session_name(state.thread_id)
        request, read = folder.request(), 0
        if request is None or request.run_id != run_id_of(state):
            self._runs.terminal.end(session)
            read = self._ask(state, folder)
        if folder.launched_at() is not None:
            return
        name = None
        if not folder.is_claimed() or session in self._runs.terminal.sessions():  # else it is over by now
            argv = [*self._runs.argv, str(folder.path)]
            with refused(f"cannot use {folder.transcript.parent}", "fix `escalation.transcript_dir` in triage.yml"):
                folder.transcript.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            name = self._runs.terminal.start(session, argv, log=folder.transcript, env=self._runs.environment)
        known = {"escalation_tmux_session": name, "escalation_transcript_path": str(folder.transcript)}
        self._service.store.amend(
            state.thread_id,
            lambda now: now.evolve(**known, orchestrator_tokens=(now.orchestrator_tokens or 0) + read),
        )
        folder.mark_launched(self._service.clock.now())

    def _ask(self, state: ThreadState, folder: EscalationFolder) -> int:
        """Write down what the run is asked; returns what reading that cost, in tokens."""
        assignment, read = build_assignment(
            self._service, state, state.investigator_round + 1, read_thread(self._service, state)
        )
        share = None
        if self._runs.spending is not None:
            share = self._runs.spending.hold(state.thread_id, assignment.spent_usd, self._runs.allowance)
        folder.open(
            EscalationRequest(
                run_id=run_id_of(state),
                assignment=replace(assignment, feedback=assignment.feedback or _notes(state)),
                settings=self._service.settings,
                spend_usd=share,
                is_locked=True,
            )
        )
        return read

    def _machine_may(self, state: ThreadState) -> bool:
        """Whether triage itself may escalate the thread: once, and only where a model works."""
        return self._service.settings.escalation.enabled and self._runs.has_model and not state.is_escalated


def run_id_of(state: ThreadState) -> str:
    """Return the id of an escalated thread's long run; the same after a restart, another for the next escalation."""
    return f"{state.thread_id}-{state.status_history[-1].at:%Y%m%dT%H%M%SZ}-e{len(state.status_history)}"


def _notes(state: ThreadState) -> str | None:
    """Return what a short run that asked for this one knew already."""
    ret = state.investigator_return
    if ret is None or not ret.escalation_requested:
        return None
    return f"A shorter run asked for more time: {ret.escalation_reason}\nIts notes: {ret.research_notes or 'none'}"


def abandon(service: ThreadService, state: ThreadState, why: str, **known: Any) -> None:
    """Hand an escalated thread to the human with the reason, unless it moved on meanwhile."""
    at = service.clock.now()
    service.store.amend(
        state.thread_id,
        lambda now: (
            now.transition(ThreadStatus.PENDING_USER, at=at, why=why, reason=PendingReason.FAILED, **known)
            if now.status is ThreadStatus.ESCALATED and run_id_of(now) == run_id_of(state)
            else None
        ),
    )
    service.cards.show_card(state.thread_id)
