"""Which session beats when: looked up at every tick, queued or refused, and recorded either way.

Slots are those of bot/domain/intervals.py: they keep their phase across restarts, and however many were missed, one
beat is queued. Wakes that come while a beat waits or runs are kept in the state and make one further beat, with the
strongest reason; a beat that goes on record runs no more, and a wake that comes then is queued behind it. What is asked
for is on disk before it is queued, so a crash at any moment loses no wake.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from bot.domain.heartbeats.beats import BeatStep, Wake, strongest
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.intervals import due_slot, next_slot, slot_of
from bot.domain.jobs import RunBeat
from bot.errors import StoreError, TriageError
from bot.heartbeat.schedule.admission import Admission, BeatRefusal
from bot.heartbeat.schedule.session_faults import MissedBeatAlerts, last_answer
from bot.heartbeat.sessions.session_inbox import WakeBox, wakes_its_reader
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory, SessionRegistry
from bot.ports import Clock, JobQueue

log = logging.getLogger(__name__)

RETRY_AFTER: Final = timedelta(seconds=15)
"""How long a wake that met a busy session waits before it asks again."""

LOOKS_PER_TICK: Final = 200
"""How many sessions one tick deals with, so that thousands due at once hold nothing up; the next tick goes on."""


class Scheduler:
    """Decides at each tick, and for each wake by hand; both may come from any thread."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        jobs: JobQueue,
        admission: Admission,
        silence: MissedBeatAlerts,
        record: BeatLog,
        wake_box: WakeBox,
        clock: Clock,
    ) -> None:
        self._sessions, self._store, self._jobs = sessions, store, jobs
        self.admission, self._silence, self._record = admission, silence, record
        self._wake_box, self._clock = wake_box, clock
        self._next: dict[str, tuple[Session, datetime]] = {}
        self._first = 0
        self._ticked_at: datetime | None = None
        self._closing: set[str] = set()
        self._lock = threading.RLock()

    def tick(self) -> None:
        """Look at every session once; costs next to nothing for those with nothing to do."""
        now = self._clock.now()
        if self._ticked_at is not None and now < self._ticked_at:
            self._next.clear()  # the clock was set back: every slot is looked up anew
        self._ticked_at = now
        sessions, left = self._sessions.all(), self._left_wakes()
        looks = 0
        for number in range(self._first, self._first + len(sessions)):
            session = sessions[number % len(sessions)]
            if self._is_quiet(session, now) and session.id not in left:
                continue
            if looks < LOOKS_PER_TICK or session.id in left:
                self._look_at(session, left.get(session.id, frozenset()), now)
            looks += 1
            if looks == LOOKS_PER_TICK:
                self._first = (number + 1) % len(sessions)
        for name in left.keys() - {session.id for session in sessions}:
            self._wake_box.forget(name, left[name])
        self._silence.tell_owners(now)

    def _left_wakes(self) -> Mapping[str, frozenset[Wake]]:
        """Return the wakes that others left; none where they cannot be read, which holds up no interval's beat."""
        try:
            return self._wake_box.left()
        except StoreError:
            log.exception("wakes of other processes cannot be read", extra={"action": "wakes_unread"})
            return {}

    def wake(self, session_id: str, wake: Wake) -> str:
        """Ask for a beat now; return one sentence on what becomes of it, for whoever asked.

        Raises:
            InputError: there is no such session.
            StoreError: the disk refuses to remember it.
        """
        session, now = self._sessions.get(session_id), self._clock.now()
        with self._lock:
            refusal = self._do_what_is_due(session, frozenset({wake}), now)
        if refusal is None:
            return f"A beat of {session_id} is queued. Result: /triage heartbeat why {session_id}"
        if refusal.step is BeatStep.BUSY:
            self._wake_box.share(session_id, wake)
            return (
                f"A heartbeat of {session_id} is already queued or running; this one runs after it. "
                f"/triage heartbeat why {session_id}"
            )
        return f"No beat of {session_id}: {refusal.why}"

    def closing(self, session_id: str) -> None:
        """Note that a session's beat is about to go on record; from now on a wake makes a beat of its own behind it.

        The queue holds the beat's job a moment longer, and starts no other job of the session before that is over.
        """
        with self._lock:
            self._closing.add(session_id)

    def _is_quiet(self, session: Session, now: datetime) -> bool:
        known = self._next.get(session.id)
        return known is not None and known[0] is session and now < known[1]

    def _look_at(self, session: Session, left: frozenset[Wake], now: datetime) -> None:
        """Do what is due for one session; what fails is logged and due again at the next tick."""
        try:
            with self._lock:
                self._do_what_is_due(session, left, now)
            self._wake_box.forget(session.id, left)
        except TriageError:
            log.exception(
                "a session could not be scheduled", extra={"action": "schedule_failed", "session": session.id}
            )

    def _do_what_is_due(self, session: Session, left: frozenset[Wake], now: datetime) -> BeatRefusal | None:
        """Ask for a beat where one is due or wakes wait; return why there is none, if one was asked for in vain."""
        state, every = self._settled(session, now), session.beat.every
        wakes = left | (self._unread(session) if session.id not in self._next else frozenset())
        slot, refusal = due_slot(session.id, every, state.last_slot, now), None
        if slot is not None:
            self._silence.check_silence(session, state, slot)
            wakes |= {Wake.INTERVAL}
        elif self._made_up_at(session, state, now) == now and not self._is_held(session):
            wakes |= {Wake.INTERVAL}
        if wakes or (state.wakes and not self._is_held(session)):
            refusal = self._ask(session, wakes, slot, now)
        self._look_again(session, now)
        return refusal

    def _look_again(self, session: Session, now: datetime) -> None:
        """Set when the session is looked at next: at its slot, or sooner while a wake waits."""
        state = self._store.load(session.id)
        at = self._made_up_at(session, state, now) or next_slot(session.id, session.beat.every, now)
        waits = bool(state.wakes)
        self._next[session.id] = (session, min(at, now + RETRY_AFTER) if waits else at)

    def _made_up_at(self, session: Session, state: SessionState, now: datetime) -> datetime | None:
        """Return when a slot outside the active hours is made up for, from `now` on: as they open.

        Only where the slot to come is outside too; of a long interval, all might be. None: there is nothing to make up.
        """
        hours, answered = self.admission.hours(session), last_answer(state)
        upcoming = next_slot(session.id, session.beat.every, now)
        if answered is None or hours.contains(answered) or hours.contains(upcoming):
            return None
        opening = hours.next_opening(now)
        return opening if opening < upcoming else None

    def _settled(self, session: Session, now: datetime) -> SessionState:
        """Return the state of a session under its present interval: a new one starts with the slot to come."""
        state, every_s = self._store.load(session.id), int(session.beat.every.total_seconds())
        if state.every_s == every_s and state.last_slot is not None:
            return state
        current = slot_of(session.id, session.beat.every, now)
        return self._store.evolve(session.id, every_s=every_s, last_slot=current, answered_at=now)

    def _unread(self, session: Session) -> frozenset[Wake]:
        """Return the wake that a crash between an assignment and its wake has lost."""
        return frozenset({Wake.ASSIGNMENT} if any(map(wakes_its_reader, self._store.inbox(session.id))) else ())

    def _ask(
        self, session: Session, wakes: frozenset[Wake], slot: datetime | None, now: datetime
    ) -> BeatRefusal | None:
        """Queue a beat for these wakes and those that wait, or say why not; a slot that is refused is recorded."""
        state, is_held = self._store.load(session.id), self._is_held(session)
        asked = wakes.union(state.wakes)
        refusal = self.admission.refusal(session, state, strongest(asked), now, is_held=is_held)
        if refusal is None:
            self._queue(session, asked, slot)
        elif refusal.step is not BeatStep.BUSY:
            self._refuse(session, asked, slot, now)
            self._record.refused(session, strongest(asked), refusal.step, refusal.why, now)
        else:
            self._keep(session, asked, slot)
            if slot is not None or (wakes and not is_held):  # asking again, or joining a beat that waits, is no news
                self._record.refused(session, strongest(wakes), refusal.step, refusal.why, now)
        return refusal

    def _is_held(self, session: Session) -> bool:
        """Whether a beat of the session waits, or runs and is not about to go on record."""
        return self._jobs.holds(session.id) and session.id not in self._closing

    def _queue(self, session: Session, asked: frozenset[Wake], slot: datetime | None) -> None:
        state = self._keep(session, asked, slot)
        at = state.last_slot if Wake.INTERVAL in asked and state.last_slot else None
        self._jobs.put(RunBeat(session_id=session.id, slot=at, wake=strongest(asked)))
        self._closing.discard(session.id)

    def _keep(self, session: Session, asked: frozenset[Wake], slot: datetime | None) -> SessionState:
        return self._store.save(
            session.id, lambda state: state.with_wakes(*asked).evolve(last_slot=slot or state.last_slot)
        )

    def _refuse(self, session: Session, asked: frozenset[Wake], slot: datetime | None, now: datetime) -> None:
        def refused(state: SessionState) -> SessionState:
            answered_at = now if Wake.INTERVAL in asked else state.answered_at
            return state.evolve(wakes=(), last_slot=slot or state.last_slot, answered_at=answered_at)

        self._store.save(session.id, refused)
