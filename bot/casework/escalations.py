"""Decides whether a question needs a long run, starts it in a process of its own, and collects its answer."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.agent.model_run import RunTimedOut
from bot.agent.run_records import RunRecorder
from bot.agent.specialist import Allowance, Budget
from bot.casework.investigate.assignment import build_assignment, changes_of_return, read_thread
from bot.casework.long_run import EscalationFolder, EscalationRequest
from bot.casework.thread_service import ThreadService
from bot.domain.questions.rubrics import expected_minutes, session_name
from bot.domain.returns import InvestigatorReturn, Usage, total_usage
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState, ThreadStatus
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


POLL_S: Final = 30
GRACE: Final = timedelta(minutes=1)
"""How much longer than its limit a run may take to end by itself before it is ended."""

LAST_WORDS_CHARS: Final = 200


class Escalations:
    """Decides on long investigations, starts them, and looks after them from outside.

    `poll` may be called at any time, and no run's trouble ends it.
    """

    def __init__(
        self, service: ThreadService, runs: LongRuns, recorder: RunRecorder, *, secrets: Collection[str] = ()
    ) -> None:
        self._service, self._runs, self._recorder, self._secrets = service, runs, recorder, secrets
        self._shown: dict[str, str] = {}

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

    def end(self, thread_id: str) -> None:
        """End the session of a long run that was stopped, where it runs on this machine."""
        self._runs.terminal.end(session_name(thread_id))

    def launch(self, thread_id: str) -> None:
        """Start the run of an escalated thread unless it has been; what cannot be started goes to the human."""
        state = self._service.store.get(thread_id)
        if state is None or state.status is not ThreadStatus.ESCALATED or not self._runs.is_ours(thread_id):
            return
        try:
            self._start(state)
        except TriageError as error:
            log.exception("long run not started", extra={"action": "escalation_failed", "thread_id": thread_id})
            self._abandon(state, f"the long investigation could not be started: {error}")

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

    def _abandon(self, state: ThreadState, why: str, **known: Any) -> None:
        """Hand an escalated thread to the human with the reason, unless it moved on meanwhile."""
        at = self._service.clock.now()
        self._service.store.amend(
            state.thread_id,
            lambda now: now.failed(at=at, why=why, **known) if _is_same(now, state) else None,
        )
        self._service.cards.show_card(state.thread_id)

    def poll(self) -> None:
        """Settle every long run that can be settled now; the rest waits for the next look."""
        with _going_on("all"):
            alive, spending = self._runs.terminal.sessions(), self._runs.spending
            waiting = [state for state in self._service.store.open_threads() if state.status is ThreadStatus.ESCALATED]
            for thread_id in self._runs.held.keys() - {state.thread_id for state in waiting}:
                self._runs.let_go(thread_id)
            ours = {state.thread_id: state for state in waiting if self._runs.is_ours(state.thread_id)}
            for session in sorted(alive - set(map(session_name, ours))):
                log.info("ended a session nobody waits for", extra={"action": "session_ended", "session": session})
                with _going_on(session):
                    self._runs.terminal.end(session)
            for thread_id in sorted(spending.held() - ours.keys()) if spending is not None else ():
                self._release(thread_id)
            for thread_id, state in ours.items():
                with _going_on(thread_id):
                    self._look_after(state)

    def _look_after(self, state: ThreadState) -> None:
        folder, session = self._runs.folder_of(state.thread_id), session_name(state.thread_id)
        request, since = folder.request(), folder.launched_at()
        if request is None or request.run_id != run_id_of(state) or since is None:
            self._runs.let_go(state.thread_id)
            self._service.queue(state.thread_id, unless_queued=True)  # whoever takes the job starts it
            return
        if self._runs.spending is not None:
            self._runs.spending.hold_again(state.thread_id, request.spend_usd)
        is_alive = session in self._runs.terminal.sessions()  # asked before `.done`: that is written first
        if folder.is_done():
            self._collect(state, folder)
        elif not is_alive and (request.is_locked or not self._runs.terminal.may_hold_others()):
            self._failed(state, folder, "the long investigation ended without an answer")
        elif self._is_late(since):
            self._runs.terminal.end(session)
            minutes = self._service.settings.escalation.time_limit_min
            self._failed(state, folder, f"the long investigation was ended after its limit of {minutes:g} min")
        else:
            self._show_progress(state, folder)

    def _show_progress(self, state: ThreadState, folder: EscalationFolder) -> None:
        """Show the run's latest words on the card, unless they stand there."""
        words = self._safe(folder.last_line())
        if words and self._shown.get(state.thread_id) != words:
            self._shown[state.thread_id] = words
            self._service.cards.show_progress(state.thread_id, words)

    def _safe(self, line: str) -> str:
        return one_line(redact(line, self._secrets), LAST_WORDS_CHARS)

    def _collect(self, state: ThreadState, folder: EscalationFolder) -> None:
        self._recorder.publish_long_run(state.thread_id, run_id_of(state))
        ret = folder.returned()
        if ret is None:
            self._failed(state, folder, "the long investigation ended without a usable answer")
        elif not ret.draft_reply.strip():
            self._failed(state, folder, "the long investigation found no answer", investigator_return=ret)
        else:
            self._service.store.amend(
                state.thread_id, lambda now: self._returned(now, ret) if _is_same(now, state) else None
            )
            self._release(state.thread_id)
            self._service.queue(state.thread_id, unless_queued=True)

    def _returned(self, now: ThreadState, ret: InvestigatorReturn) -> ThreadState:
        at, run_id = self._service.clock.now(), run_id_of(now)
        usage, points = self._recorder.usage(run_id), self._service.settings.rubrics
        known = changes_of_return(now, ret, run_id=run_id, usage=usage, points=points)
        why = f"draft of the long investigation, round {known['investigator_round']}"
        return now.transition(ThreadStatus.AWAITING_VALIDATION, at=at, why=why, **known)

    def _failed(self, state: ThreadState, folder: EscalationFolder, what: str, **known: Any) -> None:
        self._recorder.publish_long_run(state.thread_id, run_id_of(state))
        said = self._safe(folder.last_line())
        usage = total_usage(state.usage, self._recorder.usage(run_id_of(state)))
        self._release(state.thread_id)
        self._abandon(state, f"{what}; its last output: {said}" if said else what, usage=usage, **known)

    def _release(self, thread_id: str) -> None:
        """Give back what was set aside for a run; one that left no record is taken to have cost all of it."""
        self._shown.pop(thread_id, None)
        request = self._runs.folder_of(thread_id).request()
        if self._runs.spending is None or request is None:
            return
        usage = self._recorder.usage(request.run_id)
        if usage is None and request.spend_usd is not None:
            self._runs.spending.record(request.run_id, "unfinished", Usage(cost_usd=request.spend_usd))
        self._runs.spending.release(thread_id)

    def _is_late(self, since: datetime) -> bool:
        limit = timedelta(minutes=self._service.settings.escalation.time_limit_min)
        return self._service.clock.now() - since > limit + GRACE


def run_id_of(state: ThreadState) -> str:
    """Return the id of an escalated thread's long run; the same after a restart, another for the next escalation."""
    return f"{state.thread_id}-{state.status_history[-1].at:%Y%m%dT%H%M%SZ}-e{len(state.status_history)}"


def _notes(state: ThreadState) -> str | None:
    """Return what a short run that asked for this one knew already."""
    ret = state.investigator_return
    if ret is None or not ret.escalation_requested:
        return None
    return f"A shorter run asked for more time: {ret.escalation_reason}\nIts notes: {ret.research_notes or 'none'}"


@contextmanager
def _going_on(what: str) -> Iterator[None]:
    """Log what goes wrong in the block: the next look tries again."""
    try:
        yield
    except TriageError:
        log.exception("a long run was not looked after", extra={"action": "watch_failed", "what": what})


def _is_same(now: ThreadState, state: ThreadState) -> bool:
    """Whether a thread still waits for the run it waited for."""
    return now.status is ThreadStatus.ESCALATED and run_id_of(now) == run_id_of(state)
