"""The gate: one refusal at a time, in the order of the contract, each with its reason."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.domain.heartbeats.beats import BeatStep, Delivered, Wake
from bot.domain.heartbeats.session_state import Failures, SessionState, SpentToday
from bot.heartbeat.scheduler import Admission, BeatRefusal
from bot.heartbeat.session_registry import Owners, SessionMemory, resolve_session
from bot.heartbeat.session_rows import GATE
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore
from tests.gitrepo import git, make_repo
from tests.heartbeat.clockwork import DM, START, TASK, session_settings
from tests.tables import each_row

OPEN = {"active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"}}
CLOSED = {"active_hours": {"start": "01:00", "end": "02:00", "timezone": "Europe/Berlin"}}
HIDDEN = {"visibility": {"show_ok": False, "show_alerts": False, "use_indicator": False}}
PAUSED = Failures(key="refused", count=5, paused_until=START + timedelta(minutes=10))


class Gate:
    """A session before the gate; `beat` are its settings."""

    def __init__(
        self, folder: Path, wake: Wake = Wake.INTERVAL, state: SessionState | None = None, **beat: Any
    ) -> None:
        self.cwd, self.wake, self.beat = folder / "shop", wake, {**OPEN, **beat}
        self.cwd.mkdir(exist_ok=True)
        (self.cwd / "HEARTBEAT.md").write_text(TASK)
        self.route: Delivered | None = DM
        self.is_held, self.halted, self.elsewhere = False, "", False
        self.store = SessionMemory(MemoryStore())
        self.store.save("shop", lambda _: state or SessionState())
        zones = Owners(FakeWorkspace(), FakeClock(START), local="UTC")
        self.admission = Admission(
            zones,
            route=lambda *_: self.route,
            halted=lambda: self.halted or None,
            runs_elsewhere=lambda _: self.elsewhere,
        )

    def refusal(self) -> BeatRefusal | None:
        session = resolve_session("shop", session_settings(self.cwd, **self.beat))
        return next(
            self.admission.refusals(session, self.store.load("shop"), self.wake, START, is_held=self.is_held), None
        )


def everything_wrong(folder: Path, wake: Wake) -> Gate:
    state = SessionState(failures=PAUSED, spent=SpentToday(day="2026-11-21", usd=1.0))
    wrong = Gate(folder, wake, state, enabled=False, daily_budget_usd=0.5, **CLOSED, **HIDDEN)
    (wrong.cwd / "HEARTBEAT.md").unlink()
    make_repo(wrong.cwd, {"HEARTBEAT.md": "# Quick Tasks\n"})
    wrong.cwd.rename(folder / "elsewhere")
    wrong.route, wrong.is_held, wrong.halted = None, True, "paused by @ana"
    return wrong


def put_right(wrong: Gate, step: BeatStep) -> None:
    match step:
        case BeatStep.DISABLED:
            wrong.beat["enabled"] = True
        case BeatStep.HALTED:
            wrong.halted = ""
        case BeatStep.PAUSED:
            wrong.store.save("shop", lambda state: state.evolve(failures=Failures()))
        case BeatStep.HOURS:
            wrong.beat.update(OPEN)
        case BeatStep.FOLDER:
            (wrong.cwd.parent / "elsewhere").rename(wrong.cwd)
        case BeatStep.HIDDEN:
            del wrong.beat["visibility"]
        case BeatStep.ROUTE:
            wrong.route = DM
        case BeatStep.BUDGET:
            wrong.store.save("shop", lambda state: state.evolve(spent=SpentToday()))
        case BeatStep.BUSY:
            wrong.is_held = False
        case BeatStep.TRACKED:
            git(wrong.cwd, "rm", "-q", "--cached", "HEARTBEAT.md")
        case BeatStep.EMPTY:
            (wrong.cwd / "HEARTBEAT.md").write_text(TASK)


@each_row(
    "wake, order",
    [
        (Wake.INTERVAL, list(GATE)),
        (Wake.AUTOMATION, [step for step in GATE if step not in (BeatStep.HOURS, BeatStep.EMPTY)]),
        (Wake.ASSIGNMENT, [step for step in GATE if step not in (BeatStep.HOURS, BeatStep.EMPTY)]),
        (Wake.ON_DEMAND, [step for step in GATE if step not in (BeatStep.PAUSED, BeatStep.HOURS, BeatStep.EMPTY)]),
    ],
)
def test_the_gate_refuses_in_the_order_of_the_contract(tmp_path: Path, wake: Wake, order: list[BeatStep]) -> None:
    """With everything wrong, putting one thing right at a time leads through every refusal to a beat."""
    wrong, met = everything_wrong(tmp_path, wake), []
    while (found := wrong.refusal()) is not None:
        met.append(found.step)
        put_right(wrong, found.step)
    assert met == order


@each_row("wake", list(Wake))
def test_a_session_in_order_beats(tmp_path: Path, wake: Wake) -> None:
    """Whatever woke it."""
    assert Gate(tmp_path, wake).refusal() is None


def test_every_refusal_says_what_to_know(tmp_path: Path) -> None:
    """The numbers, the times and the command that helps."""
    assert Gate(tmp_path, enabled=False).refusal().why == "disabled: to switch it on: /triage heartbeat on shop"  # type: ignore[union-attr]
    closed = Gate(tmp_path, **CLOSED).refusal()
    assert closed is not None
    assert closed.why == "outside hours: it is 13:00 in Europe/Berlin, checks run 01:00-02:00"
    spent = SessionState(spent=SpentToday(day="2026-11-21", usd=0.519))
    budget = Gate(tmp_path, state=spent, daily_budget_usd=0.5).refusal()
    assert budget is not None
    assert budget.why == "budget spent: 0.52 of 0.50 USD today"
    paused = Gate(tmp_path, state=SessionState(failures=PAUSED)).refusal()
    assert paused is not None
    assert paused.why == "paused: 5 failures in a row (refused); tried again at 2026-11-21 12:10 UTC"


def test_a_pause_ends_when_it_is_over(tmp_path: Path) -> None:
    """The session is probed at its next slot."""
    over = Failures(key="refused", count=5, paused_until=START)
    assert Gate(tmp_path, state=SessionState(failures=over)).refusal() is None


def test_nobody_is_asked_for_a_route_of_a_session_that_is_off(tmp_path: Path) -> None:
    """A look at the chat costs time, at every tick."""

    def unasked(*_: Any) -> Any:
        raise AssertionError("asked")

    zones = Owners(FakeWorkspace(), FakeClock(START), local="UTC")
    admission = Admission(zones, route=unasked)
    session = resolve_session("shop", session_settings(tmp_path, **OPEN, enabled=False))
    refused = next(admission.refusals(session, SessionState(), Wake.INTERVAL, START), None)
    assert refused is not None
    assert refused.step is BeatStep.DISABLED


def test_what_was_spent_yesterday_counts_no_more() -> None:
    """The budget is the UTC day's."""
    state = SessionState(spent=SpentToday(day="2026-11-20", usd=9))
    assert state.spent.on(START) == 0
    assert state.spent.on(START - timedelta(hours=12, seconds=1)) == 9


def test_a_folder_that_another_replica_has_holds_nothing_up(tmp_path: Path) -> None:
    """The one that schedules asks what it can; what stands in the folder the other one looks at."""
    gate = Gate(tmp_path)
    gate.cwd.rename(tmp_path / "moved")
    refused = gate.refusal()
    assert refused is not None
    assert refused.step is BeatStep.FOLDER
    gate.elsewhere = True
    assert gate.refusal() is None
    gate.is_held = True
    busy = gate.refusal()
    assert busy is not None
    assert busy.step is BeatStep.BUSY
