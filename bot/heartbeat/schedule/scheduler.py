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
from itertools import islice
from typing import Final

from bot.domain.heartbeats.beats import BeatStep, Wake, strongest
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.intervals import due_slot, next_slot, slot_of
from bot.domain.jobs import RunBeat
from bot.errors import StoreError, TriageError
from bot.heartbeat.schedule.admission import Admission, BeatRefusal
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
        record: BeatLog,
        wake_box: WakeBox,
        clock: Clock,
    ) -> None:
        self._sessions, self._store, self._jobs = sessions, store, jobs
        self.admission, self._record = admission, record
        self._wake_box, self._clock = wake_box, clock
        self._next: dict[str, tuple[Session, datetime]] = {}
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
        woken = [session for session in sessions if session.id in left]
        due = (session for session in sessions if session.id not in left and self._is_due(session, now))
        for session in [*woken, *islice(due, LOOKS_PER_TICK)]:
            self._look_at(session, left.get(session.id, frozenset()), now)
        for name in left.keys() - {session.id for session in sessions}:
            self._wake_box.forget(name, left[name])

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

    def _is_due(self, session: Session, now: datetime) -> bool:
        """Whether a session's time has come, or it is not known: it is new, or its settings are."""
        known = self._next.get(session.id)
        return known is None or known[0] is not session or now >= known[1]

    def _look_at(self, session: Session, left: frozenset[Wake], now: datetime) -> None:
        """Do what is due for one session; what fails is logged and tried again soon, after the others."""
        try:
            with self._lock:
                self._do_what_is_due(session, left, now)
            self._wake_box.forget(session.id, left)
        except TriageError:
            if session.id in self._next:  # of one that is new the inbox is still to be looked into
                self._next[session.id] = (session, now + RETRY_AFTER)
            log.exception(
                "a session could not be scheduled", extra={"action": "schedule_failed", "session": session.id}
            )

    def _do_what_is_due(self, session: Session, left: frozenset[Wake], now: datetime) -> BeatRefusal | None:
        """Ask for a beat where one is due or wakes wait; return why there is none, if one was asked for in vain."""
        state, every = self._settled(session, now), session.beat.every
        wakes = left | (self._unread(session) if session.id not in self._next else frozenset())
        slot, is_held, refusal = due_slot(session.id, every, state.last_slot, now), self._is_held(session), None
        if slot is not None or (self._made_up_at(session, state, now) == now and not is_held):
            wakes |= {Wake.INTERVAL}
        if wakes or (state.wakes and not is_held):
            refusal = self._ask(session, wakes, slot, now)
        self._look_again(session, now)
        return refusal

    def _look_again(self, session: Session, now: datetime) -> None:
        """Set when the session is looked at next: at its slot, or sooner while a wake waits."""
        state = self._store.load(session.id)
        at = self._made_up_at(session, state, now) or next_slot(session.id, session.beat.every, now)
        self._next[session.id] = (session, min(at, now + RETRY_AFTER) if state.wakes else at)

    def _made_up_at(self, session: Session, state: SessionState, now: datetime) -> datetime | None:
        """Return when a slot outside the active hours is made up for, from `now` on: as they open.

        Only where the slot to come is outside too; of a long interval, all might be. None: there is nothing to make up.
        """
        hours, answered = self.admission.hours(session), state.last_answer
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
        is_over = refusal is not None and refusal.step is not BeatStep.BUSY

        def noted(state: SessionState) -> SessionState:
            state = state.evolve(last_slot=slot or state.last_slot)
            if not is_over:
                return state.with_wakes(*wakes)
            return state.evolve(wakes=(), answered_at=now if Wake.INTERVAL in asked else state.answered_at)

        state = self._store.save(session.id, noted)
        if refusal is None:
            at = state.last_slot if Wake.INTERVAL in asked else None
            self._jobs.put(RunBeat(session_id=session.id, slot=at, wake=strongest(asked)))
            self._closing.discard(session.id)
        elif is_over or slot is not None or (wakes and not is_held):  # joining a beat that waits is no news
            reason = strongest(asked if is_over else wakes)
            self._record.refused(session, reason, refusal.step, refusal.why, now)
        return refusal

    def _is_held(self, session: Session) -> bool:
        """Whether a beat of the session waits, or runs and is not about to go on record."""
        return self._jobs.holds(session.id) and session.id not in self._closing
