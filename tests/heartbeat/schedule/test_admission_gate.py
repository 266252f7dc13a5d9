"""The gate: one refusal at a time, in the order of the contract, each with its reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.heartbeats.beat_steps import GATE
from bot.domain.heartbeats.beats import BeatStep, Wake
from bot.domain.heartbeats.session_state import Failures, SessionState, SpentToday
from bot.heartbeat.schedule.admission import GateFacts, find_refusal, spent_today
from bot.heartbeat.sessions.session_registry import resolve_session
from tests.heartbeat.clockwork import DM, START, session_settings

OPEN = {"active_hours": {"start": "00:00", "end": "24:00", "timezone": "UTC"}}
CLOSED = {"active_hours": {"start": "01:00", "end": "02:00", "timezone": "Europe/Berlin"}}
HIDDEN = {"visibility": {"show_ok": False, "show_alerts": False, "use_indicator": False}}
PAUSED = Failures(key="refused", count=5, paused_until=START + timedelta(minutes=10))


def facts(tmp_path: Path, wake: Wake = Wake.INTERVAL, state: SessionState | None = None, **beat: Any) -> GateFacts:
    session = resolve_session("shop", session_settings(tmp_path, **{**OPEN, **beat}))
    return GateFacts(
        session=session,
        state=state or SessionState(),
        wake=wake,
        now=START,
        hours=session.beat.active_hours.in_zone(session.beat.active_hours.timezone),
        route=lambda: DM,
        is_busy=False,
        is_tracked=lambda: False,
        playbook_is_empty=lambda: False,
    )


def everything_wrong(tmp_path: Path, wake: Wake) -> GateFacts:
    state = SessionState(failures=PAUSED, spent=SpentToday(day="2026-11-21", usd=1.0))
    wrong = facts(tmp_path, wake, state, enabled=False, daily_budget_usd=0.5, **CLOSED, **HIDDEN)
    return replace(
        wrong,
        route=lambda: None,
        is_busy=True,
        is_tracked=lambda: True,
        playbook_is_empty=lambda: True,
        folder_is_there=lambda: False,
        halted="paused by @ana",
    )


def put_right(wrong: GateFacts, step: BeatStep) -> GateFacts:
    beat, changes = wrong.session.beat, {}
    shown = beat.visibility.model_copy(update={"show_alerts": True})
    match step:
        case BeatStep.DISABLED:
            changes = {"session": replace(wrong.session, beat=beat.model_copy(update={"enabled": True}))}
        case BeatStep.HALTED:
            changes = {"halted": None}
        case BeatStep.PAUSED:
            changes = {"state": wrong.state.evolve(failures=Failures())}
        case BeatStep.HOURS:
            changes = {"hours": wrong.hours.__class__("00:00", "24:00", "UTC")}
        case BeatStep.FOLDER:
            changes = {"folder_is_there": lambda: True}
        case BeatStep.HIDDEN:
            changes = {"session": replace(wrong.session, beat=beat.model_copy(update={"visibility": shown}))}
        case BeatStep.ROUTE:
            changes = {"route": lambda: DM}
        case BeatStep.BUDGET:
            changes = {"state": wrong.state.evolve(spent=SpentToday())}
        case BeatStep.BUSY:
            changes = {"is_busy": False}
        case BeatStep.TRACKED:
            changes = {"is_tracked": lambda: False}
        case BeatStep.EMPTY:
            changes = {"playbook_is_empty": lambda: False}
    return replace(wrong, **changes)


@pytest.mark.parametrize(
    ("wake", "order"),
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
    while (found := find_refusal(wrong)) is not None:
        met.append(found.step)
        wrong = put_right(wrong, found.step)
    assert met == order


@pytest.mark.parametrize("wake", list(Wake))
def test_a_session_in_order_beats(tmp_path: Path, wake: Wake) -> None:
    """Whatever woke it."""
    assert find_refusal(facts(tmp_path, wake)) is None


def test_every_refusal_says_what_to_know(tmp_path: Path) -> None:
    """The numbers, the times and the command that helps."""
    assert find_refusal(facts(tmp_path, enabled=False)).why == "disabled: to switch it on: /triage heartbeat on shop"  # type: ignore[union-attr]
    closed = find_refusal(facts(tmp_path, **CLOSED))
    assert closed is not None
    assert closed.why == "outside hours: it is 13:00 in Europe/Berlin, beats run 01:00-02:00"
    spent = SessionState(spent=SpentToday(day="2026-11-21", usd=0.519))
    budget = find_refusal(facts(tmp_path, state=spent, daily_budget_usd=0.5))
    assert budget is not None
    assert budget.why == "budget spent: 0.52 of 0.50 USD today"
    paused = find_refusal(facts(tmp_path, state=SessionState(failures=PAUSED)))
    assert paused is not None
    assert paused.why == "paused: 5 failures in a row (refused); tried again at 2026-11-21 12:10 UTC"


def test_a_pause_ends_when_it_is_over(tmp_path: Path) -> None:
    """The session is probed at its next slot."""
    over = Failures(key="refused", count=5, paused_until=START)
    assert find_refusal(facts(tmp_path, state=SessionState(failures=over))) is None


def test_the_playbook_is_read_only_if_everything_else_allows_the_beat(tmp_path: Path) -> None:
    """And a route is asked for only by a session that is on."""

    def unasked() -> Any:
        raise AssertionError("asked")

    off = replace(facts(tmp_path, enabled=False), route=unasked, is_tracked=unasked, playbook_is_empty=unasked)
    assert find_refusal(off) is not None
    busy = replace(facts(tmp_path), is_busy=True, is_tracked=unasked, playbook_is_empty=unasked)
    assert find_refusal(busy) is not None


def test_what_was_spent_yesterday_counts_no_more() -> None:
    """The budget is the UTC day's."""
    state = SessionState(spent=SpentToday(day="2026-11-20", usd=9))
    assert spent_today(state, START) == 0
    assert spent_today(state, START - timedelta(hours=12, seconds=1)) == 9
