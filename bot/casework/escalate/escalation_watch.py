"""Watches long runs, at intervals and at the start: collects their answers, and ends runs that are no longer needed.

Reads which sessions are alive and the runs' folders, of a transcript only the last line. A run occupies no worker;
only its validation does.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from bot.agent.run_records import RunRecorder
from bot.casework.escalate.escalations import LongRuns, abandon, run_id_of
from bot.casework.escalate.long_run import EscalationFolder
from bot.casework.investigate.assignment import changes_of_return
from bot.casework.thread_service import ThreadService
from bot.domain.questions.escalation_rules import session_name
from bot.domain.returns import InvestigatorReturn, Usage, total_usage
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import TriageError

log = logging.getLogger(__name__)

POLL_S: Final = 30
GRACE: Final = timedelta(minutes=1)
"""How much longer than its limit a run may take to end by itself before it is ended."""

LAST_WORDS_CHARS: Final = 200


class EscalationWatch:
    """What is asked of long runs from outside; `poll` may be called at any time, and no run's trouble ends it."""

    def __init__(
        self, service: ThreadService, runs: LongRuns, recorder: RunRecorder, *, secrets: Collection[str] = ()
    ) -> None:
        self._service, self._runs, self._recorder, self._secrets = service, runs, recorder, secrets
        self._shown: dict[str, str] = {}

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
        abandon(self._service, state, f"{what}; its last output: {said}" if said else what, usage=usage, **known)

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
