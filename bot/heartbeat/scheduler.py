"""Which session beats when, and whether it may: looked up at every tick, queued or refused, and recorded either way.

Slots are those of bot/domain/intervals.py: they keep their phase across restarts, and however many were missed, one
beat is queued. A wake waits in the WakeBox until a beat begins or is refused, so those that come while a beat waits or
runs make one further beat, with the strongest reason. A slot is done with once its job is queued, so a crash at any
moment loses no beat.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from bot.config.heartbeat_settings import unreachable
from bot.domain.heartbeats.beats import BeatStep, Delivered, Wake, ending_text, strongest
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.intervals import due_slot, next_slot, slot_of
from bot.domain.jobs import RunBeat
from bot.domain.text.humanize import utc_text
from bot.errors import StoreError, TriageError
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.session_registry import (
    PLAYBOOK,
    BeatLog,
    Owners,
    Session,
    SessionMemory,
    SessionRegistry,
    WakeBox,
)
from bot.ports import Clock, JobQueue

log = logging.getLogger(__name__)

TRACKED: Final = (
    f"git tracks {PLAYBOOK}, so every contributor could write the owner's alerts; run git rm --cached {PLAYBOOK} and "
    "commit, or set allow_tracked_playbook: true"
)

NO_TASKS: Final = f"{PLAYBOOK} has no tasks; add one under Quick Tasks"

RETRY_AFTER: Final = timedelta(seconds=15)
"""How long a session whose look failed waits for the next."""

LOOKS_PER_TICK: Final = 200
"""How many sessions one tick deals with, so that thousands due at once hold nothing up; the next tick goes on."""


class BeatRefusal(NamedTuple):
    """Why a beat does not run."""

    step: BeatStep
    detail: str

    @property
    def why(self) -> str:
        """The same in words."""
        return ending_text(self.step, self.detail) or ""


@dataclass(frozen=True, slots=True)
class Admission:
    """Says whether a session's beat may run now: at the tick, before it is queued, and again when its job starts.

    `route` says where an alert would go; `halted` who has paused all of triage, None while nobody has;
    `runs_elsewhere` whether another replica has a session and its folder.
    """

    owners: Owners
    route: Callable[[Session, SessionState], Delivered | None]
    halted: Callable[[], str | None] = lambda: None
    runs_elsewhere: Callable[[str], bool] = lambda _: False

    def refusals(
        self, session: Session, state: SessionState, wake: Wake, now: datetime, *, is_held: bool = False
    ) -> Iterator[BeatRefusal]:
        """Yield every reason not to run now, in the order of the gate; the first is the one that is told.

        Each is looked for as it is asked for: disk and chat are asked only if all before allows the beat. `is_held`
        says that another beat of the session waits or runs; a beat that starts is not in its own way.
        """
        name, beat, shown, failures = session.id, session.beat, session.beat.visibility, state.failures
        if not beat.enabled:
            yield BeatRefusal(BeatStep.DISABLED, f"to switch it on: /triage heartbeat on {name}")
        if halted := self.halted():
            yield BeatRefusal(BeatStep.HALTED, f"{halted}; to resume: /triage resume")
        if wake is not Wake.ON_DEMAND and (until := failures.pause_at(now)):
            failed = f"{failures.count} failures in a row ({failures.key})"
            yield BeatRefusal(BeatStep.PAUSED, f"{failed}; tried again at {utc_text(until)}")
        hours = self.owners.hours(session)
        if wake is Wake.INTERVAL and not hours.contains(now):
            local = f"it is {now.astimezone(ZoneInfo(hours.timezone)):%H:%M} in {hours.timezone}"
            yield BeatRefusal(BeatStep.HOURS, f"{local}, checks run {hours.start}-{hours.end}")
        if not (is_here := session.cwd.is_dir()) and not self.runs_elsewhere(name):
            mend = f"put it back, or correct sessions.{name}.cwd in triage.yml"
            yield BeatRefusal(BeatStep.FOLDER, f"{session.cwd} is not there; {mend}")
        if not (shown.show_ok or shown.show_alerts or shown.use_indicator):
            yield BeatRefusal(BeatStep.HIDDEN, "visibility has every kind of message switched off")
        if self.route(session, state) is None:
            no_token = unreachable(name, beat.deliver, has_telegram=False)
            no_owner = f"it has no owner; name one under sessions.{name}.owner in triage.yml"
            yield BeatRefusal(BeatStep.ROUTE, no_token or no_owner)
        spent, limit = state.spent.on(now), beat.daily_budget_usd
        if limit is not None and spent >= limit:
            yield BeatRefusal(BeatStep.BUDGET, f"{spent:.2f} of {limit:.2f} USD today")
        if is_held:
            yield BeatRefusal(BeatStep.BUSY, f"a check of {name} is already queued or running; this one runs after it")
        if not is_here:
            return  # the replica that has the folder looks into it when it begins the beat
        if not beat.allow_tracked_playbook and playbook_of(session).is_tracked():
            yield BeatRefusal(BeatStep.TRACKED, TRACKED)
        if wake is Wake.INTERVAL and _asks_for_nothing(session, state):
            yield BeatRefusal(BeatStep.EMPTY, NO_TASKS)


def _asks_for_nothing(session: Session, state: SessionState) -> bool:
    """Whether the playbook is empty, and no finding of its former tasks waits to be closed, or to be shown as that.

    One that is missing is made from the template by the beat. What cannot be read is not empty: the beat runs, and
    fails in plain sight.
    """
    if any(each.is_open or each.is_unshown for each in state.findings.values()):
        return False
    try:
        playbook = playbook_of(session).peek()
    except StoreError:
        return False
    return playbook is not None and playbook.is_effectively_empty


class _Look(NamedTuple):
    """When a session was looked at, and until when there is nothing to do for it."""

    session: Session
    at: datetime
    until: datetime


class Scheduler:
    """Decides at each tick, and for each wake by hand; both may come from any thread."""

    def __init__(
        self,
        sessions: SessionRegistry,
        store: SessionMemory,
        jobs: JobQueue,
        admission: Admission,
        record: BeatLog,
        wakes: WakeBox,
        clock: Clock,
    ) -> None:
        self._sessions, self._store, self._jobs = sessions, store, jobs
        self.admission, self._record = admission, record
        self.wakes, self._clock = wakes, clock
        self._looks: dict[str, _Look] = {}
        self._lock = threading.RLock()

    def tick(self) -> None:
        """Look at every session once; costs next to nothing for those with nothing to do."""
        now, sessions, waiting = self._clock.now(), self._sessions.all(), self.wakes.waiting()
        woken = {each.id: each for each in sessions if each.id in waiting and not self._jobs.holds(each.id)}
        due = (session for session in sessions if session.id not in woken and self._is_due(session, now))
        for session in [*woken.values(), *islice(due, LOOKS_PER_TICK)]:
            self._look_at(session, now)
        for gone in waiting.keys() - {session.id for session in sessions}:
            self.wakes.take(gone)

    def wake(self, session_id: str, wake: Wake) -> str:
        """Ask for a beat now; return one sentence on what becomes of it, for whoever asked.

        Raises:
            InputError: there is no such session.
            StoreError: the disk refuses to remember it.
        """
        session, now = self._sessions.get(session_id), self._clock.now()
        with self._lock:
            self.wakes.drop(session_id, wake)
            refusal = self._do_what_is_due(session, now, wake)
        if refusal is not None and refusal.step is not BeatStep.BUSY:
            return f"No check of {session_id}: {refusal.why}"
        behind = " behind the one that waits or runs" if refusal else ""
        return f"A check of {session_id} is queued{behind}. Result: /triage heartbeat why {session_id}"

    def _is_due(self, session: Session, now: datetime) -> bool:
        """Whether a session's time has come, or it is not known: it or its settings are new, or the clock went back."""
        look = self._looks.get(session.id)
        return look is None or look.session is not session or not look.at <= now < look.until

    def _look_at(self, session: Session, now: datetime) -> None:
        """Do what is due for one session; what fails is logged and tried again soon, after the others."""
        try:
            with self._lock:
                self._do_what_is_due(session, now)
        except TriageError:
            self._looks[session.id] = _Look(session, now, now + RETRY_AFTER)
            log.exception(
                "a session could not be scheduled", extra={"action": "schedule_failed", "session": session.id}
            )

    def _do_what_is_due(self, session: Session, now: datetime, *asked: Wake) -> BeatRefusal | None:
        """Ask for a beat where one is due or wakes wait; return why there is none, if one was asked for in vain."""
        state, wakes = self._settled(session, now), self.wakes.waiting().get(session.id, frozenset()).union(asked)
        slot = due_slot(session.id, session.beat.every, state.last_slot, now)
        if slot is not None or (self._made_up_at(session, state, now) == now and not self._jobs.holds(session.id)):
            wakes |= {Wake.INTERVAL}
        refusal = self._ask(session, state, wakes, slot, now) if wakes else None
        state = self._store.load(session.id)
        until = self._made_up_at(session, state, now) or next_slot(session.id, session.beat.every, now)
        self._looks[session.id] = _Look(session, now, until)
        return refusal

    def _settled(self, session: Session, now: datetime) -> SessionState:
        """Return the state of a session under its present interval: a new one starts with the slot to come."""
        state, every_s = self._store.load(session.id), int(session.beat.every.total_seconds())
        if state.every_s == every_s and state.last_slot is not None:
            return state
        current = slot_of(session.id, session.beat.every, now)
        return self._store.evolve(session.id, every_s=every_s, last_slot=current, answered_at=now)

    def _made_up_at(self, session: Session, state: SessionState, now: datetime) -> datetime | None:
        """Return when the slot that was answered last is made up for, if it is."""
        if state.last_answer is None:
            return None
        upcoming = next_slot(session.id, session.beat.every, now)
        return self.admission.owners.hours(session).opening_between(state.last_answer, now, upcoming)

    def _ask(
        self, session: Session, state: SessionState, wakes: frozenset[Wake], slot: datetime | None, now: datetime
    ) -> BeatRefusal | None:
        """Queue a beat for these wakes, or say why not; a busy session's slot waits as a wake, and is recorded once."""
        reason, is_interval = strongest(wakes), Wake.INTERVAL in wakes
        is_held = self._jobs.holds(session.id)
        refusal = next(self.admission.refusals(session, state, reason, now, is_held=is_held), None)
        changes: dict[str, datetime] = {} if slot is None else {"last_slot": slot}
        if refusal is None:
            at = (slot or state.last_slot) if is_interval else None
            self._jobs.put(RunBeat(session_id=session.id, slot=at, wake=reason))
        elif refusal.step is not BeatStep.BUSY:
            self._record.refused(session, reason, refusal.step, refusal.why, now)
            changes |= {"answered_at": now} if is_interval else {}
        elif slot is not None:
            self._record.refused(session, Wake.INTERVAL, refusal.step, refusal.why, now)
            self.wakes.drop(session.id, Wake.INTERVAL)
        self._store.evolve(session.id, **changes)
        if refusal is not None and refusal.step is not BeatStep.BUSY:
            self.wakes.take(session.id)
        return refusal
