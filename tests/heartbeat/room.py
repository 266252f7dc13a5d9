"""A room for beats over fakes: a real playbook on disk, scripted minds, a surface that writes down what it is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.domain.heartbeats.beats import Action, BeatReport, Envelope, Receipt, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.jobs import RunBeat
from bot.domain.returns import Usage
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.run.beat_record import BeatRecorder, BeatView
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.model_steps import Minds, Screened
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.scheduler import Admission
from bot.heartbeat.session_registry import BeatLog, Owners, SessionMemory, SessionRegistry, WakeBox
from bot.ports.collections import OVERRIDES
from tests.fakes import (
    FakeClock,
    FakeWorkspace,
    Faults,
    MemoryJournal,
    MemorySingle,
    MemoryStore,
    in_memory,
)
from tests.heartbeat.builders import AT, alert_router, input_collector, peer_sessions
from tests.heartbeat.clockwork import session_settings
from tests.heartbeat.surface import FakeSurface

COST = Usage(input_tokens=900, output_tokens=100, cost_usd=0.02)
SCREEN_COST = Usage(input_tokens=90, output_tokens=10, cost_usd=0.001)
QUIET = "# Shop\n\n## Timestamps\n\n{stamps}\n## Quick Tasks\n\n- [ ] Is the deploy healthy?\n\n## Notes\n"

Mind = Callable[[BeatView], Any]


class Scripted:
    """A mind whose steps are reports, errors, or functions of the view; the last one repeats."""

    def __init__(self, *steps: Any) -> None:
        self.steps, self.views = list(steps), list[BeatView]()

    def __call__(self, view: BeatView) -> Any:
        self.views.append(view)
        step = self.steps[min(len(self.views), len(self.steps)) - 1]
        if isinstance(step, BaseException):
            raise step
        return step(view) if callable(step) else step


def report(message: str = "HEARTBEAT_OK", **more: Any) -> Mind:
    """Return a full run that gives every due task the same receipt."""
    given = {"result": "ok", "evidence": "looked", **more}
    return lambda view: BeatReport(
        message=message,
        receipts=tuple(Receipt(task=task.id, **given) for task in view.tasks),
        usage=COST,
        tool_calls=2,
    )


def screened(action: str, reason: str = "as it was") -> Screened:
    return Screened(action=Action(action), reason=reason, usage=SCREEN_COST)


class BeatRoom:
    """One session, `shop`, of which only the quick tier is due."""

    def __init__(
        self,
        folder: Path,
        *minds: Any,
        screen: Scripted | None = None,
        faults: Faults | None = None,
        probes: Any = None,
        **beat: Any,
    ) -> None:
        self.folder, self.cwd = folder, folder / "shop"
        self.cwd.mkdir()
        self.clock = FakeClock(AT)
        self.storage = MemoryStore(faults=faults)
        self.store, self.journal = SessionMemory(self.storage), MemoryJournal(faults=faults)
        self.wakes = WakeBox(self.storage.documents)
        self.surface, self.screen = FakeSurface(), screen
        self.full = Scripted(*(minds or (report(),)))
        self.removals = Removals(MemorySingle())
        self.ops: list[str] = []
        """What the ops channel was told."""
        self.runs = folder / "runs"
        self.write_playbook()
        self.settings = session_settings(self.cwd, **{"heartbeat_model": "claude-haiku-4-5" if screen else "", **beat})
        self.probes = probes or Probes({"PATH": "/usr/bin:/bin"})
        self.restart()

    def restart(self) -> None:
        """Have a new process go on with what is on disk."""
        self.sessions = sessions = SessionRegistry({"shop": self.settings}, in_memory(OVERRIDES))
        self.log = BeatLog(self.journal)
        self.alerts = alerts = alert_router({"slack": self.surface}, self.store, self.clock, self.ops.append)
        zones = Owners(FakeWorkspace(), self.clock, local="UTC")
        self.admission = Admission(zones, route=alerts.route)
        inputs = input_collector(self.probes, self.store, self.sessions, self.clock, self.removals)
        self.beats = BeatWorker(
            sessions,
            self,  # type: ignore[arg-type]  # stands for the scheduler
            inputs,
            Minds(self.full, self.screen),
            BeatRecorder(FileRunFolders(self.folder), self.store, self.log),
            alerts,
            peer_sessions(self.sessions, self.store, self.clock),
            self.clock,
        )

    def write_playbook(self, text: str = QUIET, *, daily_due: bool = False) -> None:
        past = f"{AT - timedelta(minutes=30):%Y-%m-%dT%H:%M:%SZ}"
        stamps = f"- Last quick: (never)\n- Last hourly: {past}\n- Last daily: {'(never)' if daily_due else past}\n"
        (self.cwd / "HEARTBEAT.md").write_text(text.format(stamps=stamps))

    @property
    def playbook(self) -> str:
        return (self.cwd / "HEARTBEAT.md").read_text()

    @property
    def state(self) -> SessionState:
        return self.store.load("shop")

    def beat(self, wake: Wake = Wake.INTERVAL, **work: Any) -> Envelope:
        """Run one beat, which must leave exactly one line; return it. The next one is half an hour later."""
        before = len(self.journal.lines)
        self.beats.run_beat(RunBeat(session_id="shop", wake=wake, **work))
        assert len(self.journal.lines) == before + 1
        self.clock.advance(1_800)
        return self.log.recent("shop", 1)[0]

    def cancelling(self, then: Any) -> Mind:
        """Return a step during which somebody cancels the beat."""

        def step(view: BeatView) -> Any:
            assert self.beats.cancel("shop")
            return then(view) if callable(then) else then

        return step
