"""What runs at intervals: functions that tick, and duties, which only the replica does that holds their lease."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime, timedelta
from typing import Final

import schedule

from bot.errors import ConfigError, StoreError, Unavailable
from bot.heartbeat.session_registry import Session
from bot.ports import Lease, Leases
from bot.ports.system import Replicas, Role
from bot.release import program_version

log = logging.getLogger(__name__)


TICK_S = 1.0


class Ticker:
    """One thread that runs small jobs, each at its interval times `time_scale`."""

    def __init__(self, time_scale: float = 1.0) -> None:
        self._time_scale = time_scale
        self._scheduler = schedule.Scheduler()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def every(self, seconds: int, job: Callable[[], object]) -> None:
        """Run `job` every so many seconds from now on; call before `start`."""
        self._scheduler.every(seconds * self._time_scale).seconds.do(_Safely(job))  # type: ignore[arg-type]  # any number

    def start(self) -> None:
        """Begin to tick."""
        self._thread.start()

    def stop(self) -> None:
        """Tick no more; returns once a job under way has ended, or after 2 s. Nothing where it never began."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stopping.wait(TICK_S * self._time_scale):
            self._keep_pace()
            self._scheduler.run_pending()

    def _keep_pace(self) -> None:
        """Have no job wait longer than its interval because the clock went back, as the local one does every autumn."""
        now = datetime.now()  # naive and local, as schedule counts
        for job in self._scheduler.jobs:
            if job.next_run is not None and job.next_run - now > timedelta(seconds=job.interval):
                job.next_run = now


class _Safely:
    """A job whose error ends nothing; what it waits for is logged once, not at every tick."""

    def __init__(self, job: Callable[[], object]) -> None:
        self._job, self._waits_for = job, ""

    def __call__(self) -> None:
        """Run it."""
        waits_for = ""
        try:
            self._job()
        except (Unavailable, StoreError) as error:
            waits_for = str(error)
            if waits_for != self._waits_for:
                log.warning("a ticked job waits: %s", error, extra={"action": "tick_waits"})
        except Exception:
            log.exception("a ticked job failed", extra={"action": "tick_failed"})
        self._waits_for = waits_for


ASK_EVERY_S: Final = 1.0
"""How often a duty of another replica is asked for."""

BEAT_EVERY_S: Final = 5


class Duty:
    """One duty; `begin` is called each time this process takes it over, before anything else is done for it."""

    def __init__(
        self,
        name: str,
        leases: Leases | None,
        begin: Callable[[], object] = bool,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self._leases, self._begin, self._monotonic = name, leases, begin, monotonic
        self._lease: Lease | None = None
        self._asked_at: float | None = None
        self._is_begun = self._has_ended = False
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Whether the duty is this process's, from now on at the latest; raises StoreError and what `begin` raises."""
        with self._lock:
            if not self._is_ours():
                return False
            if not self._is_begun:
                with self._fenced():
                    self._begin()
                self._is_begun = True
            return True

    def when_ours(self, job: Callable[[], object]) -> Callable[[], object]:
        """Return a job that is done only where the duty is this process's; what it writes too late is refused."""

        def do() -> None:
            if self.take():
                with self._fenced():
                    job()

        return do

    @property
    def is_held(self) -> bool:
        """Whether this process holds the duty's lease."""
        lease = self._lease
        return lease is not None and lease.is_held

    def leave(self) -> None:
        """Leave the duty to another at once; it may come back."""
        lease, self._lease = self._lease, None
        if lease is not None:
            with suppress(StoreError):  # it expires
                lease.release()

    def end(self) -> None:
        """Leave the duty to another for good, also while it is being begun."""
        self._has_ended = True
        self.leave()

    def _is_ours(self) -> bool:
        if self._has_ended or self._leases is None:
            return not self._has_ended
        if self._lease is not None and self._lease.is_held:
            return True
        now = self._monotonic()
        if self._asked_at is not None and now - self._asked_at < ASK_EVERY_S:
            return False
        self._asked_at, self._is_begun = now, False
        try:
            self._lease = self._leases.take(f"duty.{self.name}")
        except ConfigError:  # another replica's
            self._lease = None
            return False
        log.info("this replica does %s from now on", self.name, extra={"action": "duty_taken"})
        return True

    def _fenced(self) -> AbstractContextManager[None]:
        lease = self._lease
        return nullcontext() if lease is None else lease.fenced()


class SessionDuties:
    """Which sessions beat here: those whose folder this machine has, each on one replica as long as that lives."""

    def __init__(self, leases: Leases | None, sessions: Callable[[], Iterable[Session]]) -> None:
        self._leases, self._sessions = leases, sessions
        self._duties: dict[str, Duty] = {}
        self._has_ended = False

    def tick(self) -> None:
        """Take the sessions that nobody has; raises StoreError."""
        if self._leases is None or self._has_ended:
            return
        for session in self._sessions():
            duty = self._duties.setdefault(session.id, Duty(f"beats.{session.id}", self._leases))
            if session.beat.enabled and session.cwd.is_dir():
                duty.take()
            else:
                duty.leave()

    def has(self, session_id: str) -> bool:
        """Whether a session's beats run here; those of one that is gone end wherever they are taken."""
        if self._leases is None or session_id not in {session.id for session in self._sessions()}:
            return True
        duty = self._duties.get(session_id)
        return duty is not None and duty.is_held

    def elsewhere(self, session_id: str) -> bool:
        """Whether another replica has a session; raises StoreError."""
        return self._leases is not None and self._leases.holder(f"duty.beats.{session_id}") is not None

    def end(self) -> None:
        """Leave them to others."""
        self._has_ended = True
        for duty in self._duties.values():
            duty.end()


class SignsOfLife:
    """Signs of life in `replicas`, from a thread of their own; nothing happens where there are none.

    With each one `keep_time` returns how far this machine's clock is ahead of the database's.
    """

    def __init__(self, replicas: Replicas | None, role: Role, keep_time: Callable[[], timedelta]) -> None:
        self._replicas, self._role, self._keep_time, self._ticker = replicas, role, keep_time, Ticker()

    def start(self) -> None:
        """Give the first sign, and go on; raises StoreError."""
        if (replicas := self._replicas) is None:
            return

        def beat() -> None:
            replicas.beat(program_version(), self._role, self._keep_time())

        beat()
        self._ticker.every(BEAT_EVERY_S, beat)
        self._ticker.start()

    def stop(self) -> None:
        """Give no more, and let the others know."""
        if self._replicas is not None:
            self._ticker.stop()
            with suppress(StoreError):  # the others see that it is silent
                self._replicas.leave()
