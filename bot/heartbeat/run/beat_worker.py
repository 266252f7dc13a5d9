"""One beat from a claimed job to its record: let in, looked, carried out (bot/heartbeat/run/pipeline.py), written down.

Writes exactly one line of heartbeats.ndjson per beat, whatever happened. A beat that a crash broke off after its full
run goes on from there; what wakes wait meanwhile make the next one. A beat whose HEARTBEAT.md was deleted makes no new
one: what was open is closed, and the owner hears it once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from bot.agent.model_run import RunStopped
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatResult, BeatStep, RunCheckpoint, strongest
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.jobs import RunBeat
from bot.domain.text.humanize import counted
from bot.domain.tiers import PERIODS, Tier
from bot.errors import InputError, ProviderError, StoreError, TriageError
from bot.heartbeat.alerts.alert_routing import AlertRouter, BeatOutcome
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatEnd, BeatRecorder, BeatStart
from bot.heartbeat.run.pipeline import BeatPipeline, broken_off
from bot.heartbeat.schedule.scheduler import Scheduler
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.ports import Clock

log = logging.getLogger(__name__)

SHOWN: Final = 5


class BeatWorker:
    """Works off the jobs of heartbeats."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        scheduler: Scheduler,
        pipeline: BeatPipeline,
        recorder: BeatRecorder,
        alerts: AlertRouter,
        peers: PeerSessions,
        clock: Clock,
    ) -> None:
        self._sessions, self._store, self._scheduler, self._pipeline = sessions, store, scheduler, pipeline
        self._recorder, self._alerts, self._peers, self._clock = recorder, alerts, peers, clock
        self._cancels: dict[str, threading.Event] = {}

    def run_beat(self, work: RunBeat) -> None:
        """Carry out one beat; raises only StoreError, and RunStopped while the process stops."""
        try:
            session = self._sessions.get(work.session_id)
        except InputError:
            log.info("a beat of a session that is gone", extra={"action": "beat_orphaned", "session": work.session_id})
            return
        state = self._store.load(session.id)
        if is_done(state, work):
            log.info("a beat on record is not run again", extra={"action": "beat_done", "session": session.id})
            return
        begun = self._begin(session, state.paid, work)
        with self._cancellable(session.id) as cancel:
            ending = self._ended(session, begun, cancel)
        now = self._clock.now()
        self._scheduler.closing(session.id)  # before: whoever reads the record may ask for the next beat at once
        state = self._recorder.close(session, begun, ending, now=now)
        self._tell_of_failure(session, ending, state)
        try:
            if ending.good and ending.view is not None and ending.view.tier is Tier.DAILY:
                changes = self._recorder.changes_since(session, now - PERIODS[Tier.DAILY])
                ending = replace(ending, changes=changes)
            self._peers.report_to_master(session, ending, now)
        except TriageError:  # the beat is on record; run again, it would be there twice
            log.exception("other sessions not told", extra={"action": "neighbours_untold", "session": session.id})

    def _tell_of_failure(self, session: Session, ending: BeatEnd, state: SessionState) -> None:
        """Say once that the session pauses, or that an alert can reach nobody as things are, but not what it says."""
        is_pause = ending.result is BeatResult.FAILED and state.failures.is_untold
        text = f"An alert of {session.id} reached nobody: {ending.error}. Each beat tries to send it again."
        if not is_pause and not (ending.is_undeliverable and state.failures.count == 1):
            return
        try:
            self._alerts.tell_owner_or_ops(session, state.failures.notice if is_pause else text)
            if is_pause:
                self._store.save(session.id, lambda now: now.evolve(failures=now.failures.evolve(told=True)))
        except ProviderError:
            log.exception("owner not told of a failure", extra={"action": "failure_untold", "session": session.id})

    def cancel(self, session_id: str) -> bool:
        """Stop the session's beat under way; False if there is none."""
        event = self._cancels.get(session_id)
        if event is not None:
            event.set()
        return event is not None

    def _begin(self, session: Session, paid: RunCheckpoint | None, work: RunBeat) -> BeatStart:
        if paid is not None:
            log.warning("a beat goes on after a crash", extra={"action": "beat_resumed", "session": session.id})
            return BeatStart.again(paid, self._clock.now())
        now = self._clock.now()
        wake = strongest([work.wake, *self._scheduler.wakes.take(session.id)])  # no further beat is made for them
        return BeatStart(
            run_id=f"beat-{session.id}-{now:%Y%m%dT%H%M%S%f}Z"[:120],
            wake=wake,
            stamp_at=work.slot or now,
            started_at=now,
        )

    @contextmanager
    def _cancellable(self, session_id: str) -> Iterator[threading.Event]:
        event = self._cancels[session_id] = threading.Event()
        try:
            yield event
        finally:
            self._cancels.pop(session_id, None)

    def _ended(self, session: Session, begun: BeatStart, cancel: threading.Event) -> BeatEnd:
        """Return how the beat ended; a cancel at any step stays one."""
        try:
            return self._carry_out(session, begun, cancel)
        except RunStopped:
            self._scheduler.wakes.drop(session.id, begun.wake)  # the job goes back to the queue, with its own reason
            raise
        except TriageError as error:
            return broken_off(session, error)

    def _carry_out(self, session: Session, begun: BeatStart, cancel: threading.Event) -> BeatEnd:
        if begun.paid is None:
            state = self._store.load(session.id)
            refusal = self._scheduler.admission.refusal(session, state, begun.wake, begun.started_at)
            if refusal is not None:
                return BeatEnd(result=BeatResult.SKIPPED, step=refusal.step, detail=refusal.detail)
            if is_deleted(session, state):
                return self._end_without_playbook(session, state, begun)
        return self._pipeline.run(session, begun, cancel)

    def _end_without_playbook(self, session: Session, state: SessionState, begun: BeatStart) -> BeatEnd:
        """Close what was open and tell the owner, once; return how the beat ends."""
        outcome = BeatOutcome(
            findings=(),
            checked=frozenset(),
            standing=frozenset(),
            is_file_gone=True,
            at=begun.started_at,
            wake=begun.wake,
            tier=None,
        )
        self._alerts.deliver(session, outcome)
        detail = f"{PLAYBOOK} was deleted; to begin anew: /triage tiers {session.id} add quick <task>"
        if not state.playbook_gone_told:
            open_ = [each for each in state.findings.values() if each.is_open]
            try:
                self._alerts.tell_owner_or_ops(session, _deletion_notice(session, open_))
            except ProviderError as error:
                return replace(broken_off(session, error), step=BeatStep.EMPTY, detail=detail)
            self._store.evolve(session.id, playbook_gone_told=True)
        return BeatEnd(result=BeatResult.SKIPPED, step=BeatStep.EMPTY, detail=detail)


def is_done(state: SessionState, work: RunBeat) -> bool:
    """Whether the slot was beaten and recorded before a crash that left its job behind."""
    beaten = state.stamps.get(Tier.QUICK)
    return state.paid is None and beaten is not None and work.slot == beaten


def is_deleted(session: Session, state: SessionState) -> bool:
    """Whether a beat has read a playbook that is not there any more; one that cannot be read is there."""
    if not state.had_playbook or not session.cwd.is_dir():
        return False
    try:
        return playbook_of(session).peek() is None
    except StoreError:
        return False


def _deletion_notice(session: Session, closed: list[OpenFinding]) -> str:
    lines = [f"- {each.text.splitlines()[0]}" for each in closed[:SHOWN] if each.text]
    count = counted(len(closed), "alert")
    said = [
        f"{PLAYBOOK} of {session.id} was deleted: none of its checks is made any more, and no new file was made.",
        f"Put the file back, or begin a new one: `/triage tiers {session.id} add quick <task>`.",
        *([f"Closed without being fixed, {count}; last result: failing", *lines] if closed else []),
    ]
    return "\n".join(said)
