"""What a week of heartbeats costs, and what it misses, under four policies.

Real scheduler, gate, beats, dedupe and delivery over a fake clock; the workspaces, their commands and both models are
scripted, and see the same seeded history. A cheap model that answers is taken to be right: what it misses in life is
not measured here. Tokens per call are assumptions, printed beside the cost.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.agent.cost import DEFAULT_PRICES
from bot.config.heartbeat_settings import BeatSettings, SessionSettings
from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import Alert, Place
from bot.domain.heartbeats.beats import Action, BeatReport, Receipt, Reported
from bot.domain.playbook_entries import PlaybookEntry
from bot.domain.prescreen import Decision
from bot.domain.returns import Usage
from bot.heartbeat.run.beat_record import BeatRecorder, BeatView
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.model_steps import Minds, Screened, escalated_for_doubt
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.scheduler import Admission, Scheduler
from bot.heartbeat.session_registry import BeatLog, Owners, SessionMemory, SessionRegistry, WakeBox
from bot.ports.collections import OVERRIDES
from tests.fakes import (
    FakeClock,
    FakeWorkspace,
    MemoryDocuments,
    MemoryJobQueue,
    MemoryJournal,
    MemoryStore,
    in_memory,
)
from tests.heartbeat.builders import alert_router, input_collector, peer_sessions

KINDS = [("tree", False), ("ci", True), ("ci", True), ("commits", False), ("tree", True)]
"""What may change, and whether that is worth waking somebody."""
START = datetime(2026, 11, 16, tzinfo=UTC)
DAYS = 7
EVERY = timedelta(minutes=30)
SESSIONS = 8
BUSY_SESSIONS = 4
CHECKS = {"tree": "git status --porcelain", "ci": "ci-state --main", "commits": "git log --oneline"}
FULL, CHEAP = "claude-opus-5-5", "claude-haiku-5-5"
FULL_TOKENS, CHEAP_TOKENS = (12_000, 900), (2_500, 120)

POLICIES = {
    "always the full model": (False, False),
    "pre-screen": (False, True),
    "probes + pre-screen": (True, True),
    "probes": (True, False),
}
"""Whether tasks name their commands, and whether a cheap model looks first."""


@dataclass(frozen=True)
class Change:
    """Something that differs in a session's workspace from `start` to `end`; an `alert` is worth waking somebody."""

    session: str
    check: str
    start: datetime
    end: datetime
    alert: bool

    @property
    def name(self) -> str:
        """What commands print of it."""
        return f"{self.check}-{int(self.start.timestamp())}"


def history(seed: int = 7) -> list[Change]:
    """Return a week in which half the sessions are idle."""
    dice = random.Random(seed)
    changes = []
    for number in range(BUSY_SESSIONS):
        for _ in range(dice.randint(5, 9)):
            check, alert = dice.choice(KINDS)
            start = START + timedelta(minutes=dice.randint(60, DAYS * 24 * 60 - 600))
            end = start + timedelta(minutes=dice.randint(90, 500))
            changes.append(Change(f"s{number}", check, start, end, alert))
    return changes


class World:
    """What is so at a moment."""

    def __init__(self, changes: Sequence[Change], clock: FakeClock) -> None:
        self._changes, self._clock = changes, clock

    def now(self, session: str, check: str | None = None) -> list[Change]:
        """Return what is different in a session, or in one check of it."""
        at = self._clock.now()
        here = (each for each in self._changes if each.session == session and check in (None, each.check))
        return [each for each in here if each.start <= at < each.end]


class ScriptedProbes(Probes):
    """Commands that print what is so."""

    def __init__(self, world: World) -> None:
        super().__init__({})
        self._world = world

    def run(self, cwd: Path, tasks: Sequence[PlaybookEntry], *_: object, **__: object) -> ProbeReport:
        """Print the names of the changes each check is about."""
        named = {task.id: _check_of(task) for task in tasks if "`" in task.text}
        argvs = {task_id: tuple(CHECKS[check].split()) for task_id, check in named.items()}
        results = tuple(
            ProbeResult(
                argv=argvs[task_id],
                output="\n".join(change.name for change in self._world.now(cwd.name, check)),
                exit_code=0,
                seconds=0.0,
            )
            for task_id, check in named.items()
        )
        return ProbeReport(results=results)


@dataclass
class Bill:
    """Calls and their tokens by model."""

    calls: dict[str, int] = field(default_factory=lambda: {FULL: 0, CHEAP: 0})

    def charge(self, model: str) -> Usage:
        """Count one call and return what it cost."""
        self.calls[model] += 1
        read, written = FULL_TOKENS if model == FULL else CHEAP_TOKENS
        usage = Usage(input_tokens=read, output_tokens=written)
        return usage.model_copy(update={"cost_usd": DEFAULT_PRICES[model].cost_usd(usage)})


class ScriptedRun:
    """A full model that sees all there is."""

    def __init__(self, world: World, bill: Bill) -> None:
        self._world, self._bill = world, bill

    def run(self, view: BeatView) -> BeatReport:
        """Report every change worth an alert."""
        receipts = tuple(self._receipt(task, view.session.id) for task in view.tasks)
        return BeatReport(message="", receipts=receipts, status="ok", usage=self._bill.charge(FULL))

    def _receipt(self, task: PlaybookEntry, session: str) -> Receipt:
        check = _check_of(task)
        bad = [change for change in self._world.now(session, check) if change.alert] if check else []
        if not bad:
            return Receipt(task=task.id, result="ok")
        found = Reported(key=bad[0].name, severity=Severity.PAGE if check == "ci" else None, text=bad[0].name)
        return Receipt(task=task.id, result="finding", finding=found)


class ScriptedScreen:
    """A cheap model that escalates what is worth an alert."""

    def __init__(self, world: World, bill: Bill) -> None:
        self._world, self._bill = world, bill

    def decide(self, view: BeatView) -> Screened:
        """Escalate what is worth an alert and not known yet."""
        usage = self._bill.charge(CHEAP)
        known = {finding.key.rpartition("/")[2] for finding in view.open_findings}
        bad = {change.name for change in self._world.now(view.session.id) if change.alert}
        receipts = tuple(Receipt(task=task.id, result="ok") for task in view.tasks)
        action = Action.NONE if bad <= known else Action.ESCALATE
        decision = escalated_for_doubt(Decision(action, "scripted", receipts), view)
        return Screened(action=decision.action, reason=decision.reason, usage=usage)


class Listener:
    """Where alerts arrive."""

    def __init__(self) -> None:
        self.heard: set[str] = set()

    def send(self, to: str, alert: Alert) -> list[Place]:
        """Remember which finding of which session it was."""
        if alert.finding is not None:
            self.heard.add(alert.finding.key.split("/", 1)[0] + "/" + alert.finding.key.rpartition("/")[2])
        return [(to, hashlib.sha256(alert.text.encode()).hexdigest()[:8])]

    def update(self, at: Place, alert: Alert) -> None:
        """Hear nothing new."""


def _check_of(task: PlaybookEntry) -> str:
    return next((check for check in CHECKS if task.text.startswith(check)), "")


def _playbook(*, probes: bool) -> str:
    lines = [f"- [ ] {check}{f': `{command}`' if probes else ''}" for check, command in CHECKS.items()]
    return (
        "## Timestamps\n- Last quick: (never)\n- Last hourly: (never)\n- Last daily: (never)\n"
        f"## Quick\n{chr(10).join(lines)}\n## Daily\n- [ ] Read the day's commits\n"
    )


@dataclass
class Week:
    """What a policy's week came to."""

    beats: int
    bill: Bill
    cost: float
    heard: set[str]


def week(folder: Path, changes: Sequence[Change], *, probes: bool, screen: bool) -> Week:
    """Run seven days of all sessions."""
    clock = FakeClock(START)
    world, bill, listener = World(changes, clock), Bill(), Listener()
    settings = {}
    for number in range(SESSIONS):
        cwd = folder / f"s{number}"
        cwd.mkdir()
        (cwd / "HEARTBEAT.md").write_text(_playbook(probes=probes))
        beat = BeatSettings.model_validate(
            {
                "every": "30m",
                "active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"},
                "heartbeat_model": CHEAP if screen else "",
            }
        )
        settings[f"s{number}"] = SessionSettings.model_construct(
            name=None, cwd=cwd, owner="U1", channels=(), master=False, heartbeat=beat
        )
    store, jobs, journal = SessionMemory(MemoryStore()), MemoryJobQueue(clock), MemoryJournal()
    sessions = SessionRegistry(settings, in_memory(OVERRIDES))
    zones, log = Owners(FakeWorkspace(), clock, local="UTC"), BeatLog(journal)
    alerts = alert_router({"slack": listener}, store, clock)
    admission = Admission(zones, route=alerts.route)
    scheduler = Scheduler(sessions, store, jobs, admission, log, WakeBox(MemoryDocuments()), clock)
    inputs = input_collector(ScriptedProbes(world), store, sessions, clock)
    minds = Minds(ScriptedRun(world, bill).run, ScriptedScreen(world, bill).decide if screen else None)
    recorder, peers = BeatRecorder(FileRunFolders(folder), store, log), peer_sessions(sessions, store, clock)
    beats = BeatWorker(sessions, scheduler, inputs, minds, recorder, alerts, peers, clock)
    end = START + timedelta(days=DAYS)
    while clock.now() < end:
        scheduler.tick()
        while (job := jobs.claim()) is not None:
            beats.run_beat(job.work)
            jobs.done(job)
        clock.advance(60)
    records = list(journal.records())
    cost = sum(_cost(record["usage"]) for record in records)
    return Week(beats=len(records), bill=bill, cost=cost, heard=listener.heard)


def _cost(usage: dict[str, object]) -> float:
    screen = usage["triage_usage"]
    parts = (usage.get("cost_usd"), screen.get("cost_usd") if isinstance(screen, dict) else 0)
    return sum(part for part in parts if isinstance(part, int | float))


def main() -> int:
    """Print the four weeks and return 0 if the targets are met."""
    changes = history()
    weeks = {}
    for name, (probes, screen) in POLICIES.items():
        with tempfile.TemporaryDirectory() as folder:
            weeks[name] = week(Path(folder), changes, probes=probes, screen=screen)
    baseline = weeks["always the full model"]
    print(f"{SESSIONS} sessions, one beat in {EVERY}, {DAYS} days; {len(changes)} changes in {BUSY_SESSIONS} of them")
    print(f"assumed tokens per call (in/out): {FULL} {FULL_TOKENS}, {CHEAP} {CHEAP_TOKENS}\n")
    heads = ("beats", "full", "cheap", "tokens", "USD", "of all", "alerts", "missed")
    print(f"{'policy':<24}{''.join(f'{head:>9}' for head in heads)}")
    for name, done in weeks.items():
        print(_line(name, done, baseline))
    return _judge(weeks, changes)


def _line(name: str, done: Week, baseline: Week) -> str:
    full, cheap = done.bill.calls[FULL], done.bill.calls[CHEAP]
    tokens = full * sum(FULL_TOKENS) + cheap * sum(CHEAP_TOKENS)
    missed = len(baseline.heard - done.heard)
    return (
        f"{name:<24}{done.beats:>9}{full:>9}{cheap:>9}{tokens / 1e6:>8.1f}M{done.cost:>9.2f}"
        f"{done.cost / baseline.cost:>9.3f}{len(done.heard):>9}{missed:>9}"
    )


def _judge(weeks: dict[str, Week], changes: Sequence[Change]) -> int:
    baseline, both = weeks["always the full model"], weeks["probes + pre-screen"]
    allowed = baseline.bill.calls[FULL] / 20 + len(changes)
    missed = {name: baseline.heard - done.heard for name, done in weeks.items()}
    idle = (SESSIONS - BUSY_SESSIONS) * DAYS
    print(f"\nfull runs under probes + pre-screen: {both.bill.calls[FULL]}, allowed {allowed:.0f}")
    print(f"an idle session's week is its {DAYS} daily runs: {idle} for the {SESSIONS - BUSY_SESSIONS} idle ones")
    fine = both.bill.calls[FULL] <= allowed and not any(missed.values()) and bool(baseline.heard)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
