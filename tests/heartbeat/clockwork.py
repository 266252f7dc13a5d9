"""Everything a scheduler needs, in memory, with a clock that moves only when told to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.config.heartbeat_settings import SessionSettings
from bot.domain.heartbeats.beats import Delivered, Envelope
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.jobs import Job, RunBeat
from bot.errors import ProviderError
from bot.heartbeat.scheduler import Admission, Scheduler
from bot.heartbeat.session_registry import BeatLog, Owners, Session, SessionMemory, SessionRegistry, WakeBox
from bot.ports.collections import OVERRIDES
from tests.fakes import (
    FakeClock,
    FakeWorkspace,
    MemoryJobQueue,
    MemoryJournal,
    MemoryStore,
    in_memory,
)

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
TASK = "# Quick\n- [ ] look\n"
DM = Delivered(mode="last", channel="slack", to="D0ANN")


def session_settings(cwd: Path, **given: Any) -> SessionSettings:
    """Return a session's settings; keys that are not a session's are its beats'."""
    own = {key: given.pop(key) for key in ("name", "owner", "channels", "master") if key in given}
    return SessionSettings.model_validate({"cwd": cwd, "owner": "U0ANN", **own, "heartbeat": given})


class Clockwork:
    """A scheduler over fakes; `restarted()` is what a new process finds."""

    def __init__(self, folder: Path, *names: str, at: datetime = START, **beat: Any) -> None:
        self.folder = folder
        self.clock = FakeClock(at)
        self.settings = {name: session_settings(self._checkout(name), **beat) for name in names}
        self.storage = MemoryStore()
        self.store = SessionMemory(self.storage)
        self.overrides, self.box = in_memory(OVERRIDES, self.storage.documents), WakeBox(self.storage.documents)
        self.journal, self.jobs, self.workspace = MemoryJournal(), MemoryJobQueue(self.clock), FakeWorkspace()
        self.route: Delivered | None = DM
        self.route_fails_for = ""
        self._wire()

    def _checkout(self, name: str) -> Path:
        cwd = self.folder / name
        cwd.mkdir()
        (cwd / "HEARTBEAT.md").write_text(TASK)
        return cwd

    def _wire(self) -> None:
        self.sessions = SessionRegistry(self.settings, self.overrides)
        self.zones = Owners(self.workspace, self.clock, local="UTC")
        self.record = BeatLog(self.journal)
        self.admission = Admission(self.zones, route=self._route)
        self.scheduler = Scheduler(
            self.sessions,
            self.store,
            self.jobs,
            self.admission,
            self.record,
            self.box,
            self.clock,
        )

    def restarted(self) -> Clockwork:
        """Kill the process and start another on the same disk."""
        self.jobs = self.jobs.reopened()
        self._wire()
        return self

    def tick(self, **later: float) -> None:
        """Move the clock and tick once."""
        self.clock.at += timedelta(**later)
        self.scheduler.tick()

    def run_for(self, total: timedelta, *, step: timedelta = timedelta(minutes=1)) -> Iterator[Job]:
        """Tick on; every queued beat runs at once and succeeds."""
        until = self.clock.at + total
        while self.clock.at < until:
            self.clock.at += step
            self.scheduler.tick()
            yield from self.run_all()

    def run_all(self) -> Iterator[Job]:
        """Run what is queued."""
        while job := self.jobs.claim():
            self.beat(job)
            yield job

    def beat(self, job: Job) -> None:
        """Run one beat as the runner does: take the wakes, say that it ran, be done."""
        self.box.take(job.key)
        self.store.save(job.key, lambda state: state.evolve(last_run=self.clock.at))
        self.jobs.done(job)

    def state(self, name: str = "shop") -> SessionState:
        return self.store.load(name)

    def session(self, name: str = "shop") -> Session:
        return self.sessions.get(name)

    def recorded(self, name: str = "shop") -> list[Envelope]:
        """Return what heartbeats.ndjson says, oldest first."""
        return self.record.recent(name, 10_000)[::-1]

    def whys(self, name: str = "shop") -> list[str]:
        return [(envelope.why or "").partition(":")[0] for envelope in self.recorded(name)]

    def _route(self, session: Session, _: SessionState) -> Delivered | None:
        if session.id == self.route_fails_for:
            raise ProviderError("Slack is away")
        return self.route


def beat_of(job: Job) -> RunBeat:
    """Return the beat that a job is."""
    assert isinstance(job.work, RunBeat)
    return job.work
