"""What a beat does with the wakes that led to it, when it starts.

One beat from a claimed job to its record: let in, looked, run its course (bot/heartbeat/run/pipeline.py), written down.

Writes exactly one line of heartbeats.ndjson per beat, whatever happened. A beat that a crash broke off after its full
run goes on from there: what wakes wait meanwhile make the next one.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from bot.agent.model_run import RunStopped
from bot.domain.heartbeats.beats import BeatResult, Wake, strongest
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.jobs import RunBeat
from bot.domain.tiers import Tier
from bot.errors import InputError, ProviderError, TriageError
from bot.heartbeat.playbooks.allowed_commands import Argv
from bot.heartbeat.run.beat_record import BeatEnd, BeatRecorder, BeatStart
from bot.heartbeat.run.deleted_playbook import is_deleted
from bot.heartbeat.run.inputs import InputCollector
from bot.heartbeat.run.pipeline import BeatPipeline, broken_off
from bot.heartbeat.run.probes import ProbeResult
from bot.heartbeat.schedule.admission import Admission, is_alert_due, mark_alerted, pause_notice
from bot.heartbeat.schedule.missed_beats import AlertOwner
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports import Clock, SessionStore


def take_wakes(store: SessionStore, work: RunBeat) -> tuple[Wake, datetime | None]:
    """Return why the beat of a job starts, and its slot; every wake that waited is taken with it.

    The job's own wake counts too: after a crash it is all that is left. A manual wake has no slot.
    """
    waiting: list[Wake] = []

    def taken(state: SessionState) -> SessionState:
        waiting[:] = state.wakes
        return state.evolve(wakes=())

    store.save(work.session_id, taken)
    return strongest([work.wake, *waiting]), work.slot


log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class BeatDependencies:
    """What beats work with.

    `retry` keeps a wake whose beat was stopped for later, `closing` is told before a beat goes on record, `after` does
    what a beat that is on record leads to in other sessions.
    """

    sessions: SessionRegistry
    store: SessionStore
    admission: Admission
    retry: Callable[[str, Wake], None]
    look: InputCollector
    course: BeatPipeline
    alert_owner: AlertOwner
    record: BeatRecorder
    clock: Clock
    closing: Callable[[str], None] = lambda _: None
    after: Callable[[Session, BeatEnd, datetime], None] = lambda *_: None
    ready: Callable[[str], Mapping[Argv, ProbeResult]] = lambda _: {}
    """Returns what a session's commands answered while its beat waited."""


class BeatWorker:
    """Works off the jobs of heartbeats."""

    def __init__(self, room: BeatDependencies) -> None:
        self._room = room
        self._cancels: dict[str, threading.Event] = {}

    def run_beat(self, work: RunBeat) -> None:
        """Carry out one beat; raises only StoreError, and RunStopped while the process stops."""
        try:
            session = self._room.sessions.get(work.session_id)
        except InputError:
            log.info("a beat of a session that is gone", extra={"action": "beat_orphaned", "session": work.session_id})
            return
        if self._is_done(session, work):
            log.info("a beat on record is not run again", extra={"action": "beat_done", "session": session.id})
            return
        begun = self._begin(session, work)
        with self._cancellable(session.id) as cancel:
            ending = self._ended(session, begun, cancel, self._room.ready(session.id))
        now = self._room.clock.now()
        self._room.closing(session.id)  # before: whoever reads the record may ask for the next beat at once
        self._room.record.close(session, begun, ending, now=now)
        state = self._room.store.load(session.id)
        if ending.result is BeatResult.FAILED and is_alert_due(state):
            self._tell_of_pause(session, state)
        try:
            self._room.after(session, ending, now)
        except TriageError:  # the beat is on record; run again, it would be there twice
            log.exception("other sessions not told", extra={"action": "neighbours_untold", "session": session.id})

    def _tell_of_pause(self, session: Session, state: SessionState) -> None:
        try:
            self._room.alert_owner(session, pause_notice(state))
            self._room.store.save(session.id, mark_alerted)
        except ProviderError:
            log.exception("owner not told of the pause", extra={"action": "pause_untold", "session": session.id})

    def cancel(self, session_id: str) -> bool:
        """Stop the session's beat under way; False if there is none."""
        event = self._cancels.get(session_id)
        if event is not None:
            event.set()
        return event is not None

    def _is_done(self, session: Session, work: RunBeat) -> bool:
        """Whether the slot was beaten and recorded before a crash that left its job behind."""
        state = self._room.store.load(session.id)
        beaten = state.stamps.get(Tier.QUICK)
        return state.paid is None and beaten is not None and work.slot == beaten

    def _begin(self, session: Session, work: RunBeat) -> BeatStart:
        paid = self._room.store.load(session.id).paid
        if paid is not None:
            log.warning("a beat goes on after a crash", extra={"action": "beat_resumed", "session": session.id})
            return BeatStart.again(paid, self._room.clock.now())
        now = self._room.clock.now()
        wake, slot = take_wakes(self._room.store, work)
        return BeatStart(
            run_id=f"beat-{session.id}-{now:%Y%m%dT%H%M%S%f}Z"[:120],
            wake=wake,
            stamp_at=slot or now,
            started_at=now,
        )

    @contextmanager
    def _cancellable(self, session_id: str) -> Iterator[threading.Event]:
        event = self._cancels[session_id] = threading.Event()
        try:
            yield event
        finally:
            self._cancels.pop(session_id, None)

    def _ended(
        self, session: Session, begun: BeatStart, cancel: threading.Event, ready: Mapping[Argv, ProbeResult]
    ) -> BeatEnd:
        """Return how the beat ended; a cancel at any step stays one."""
        try:
            return self._carry_out(session, begun, cancel, ready)
        except RunStopped:
            self._room.retry(session.id, begun.wake)  # the job goes back to the queue, its reason to the state
            raise
        except TriageError as error:
            return broken_off(session, error)

    def _carry_out(
        self, session: Session, begun: BeatStart, cancel: threading.Event, ready: Mapping[Argv, ProbeResult]
    ) -> BeatEnd:
        state = self._room.store.load(session.id)
        refusal = self._room.admission.refusal(session, begun.wake) if begun.paid is None else None
        if refusal is not None:
            return BeatEnd(result=BeatResult.SKIPPED, step=refusal.step, detail=refusal.detail)
        if begun.paid is None and is_deleted(session, state):
            return self._room.course.without_playbook(session, begun)
        return self._room.course.run(self._room.look.collect(session, state, begun, cancel, ready), begun)
