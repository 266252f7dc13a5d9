"""A run that is followed: its steps are shown, and Stop ends it, keeps what was found and says what it cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from bot.agent.model_run import OnProgress, RunCancelled, RunProgress, RunWatch
from bot.casework.checks.validation import Validation
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.live_work import fold_all_left
from bot.domain.returns import Usage
from bot.domain.threads import LiveShown, PendingReason, ThreadState, ThreadStatus
from bot.errors import Conflict
from tests.builders import THREAD_ID, a_return, an_event
from tests.casework.office import BEN, Office

SPENT = Usage(input_tokens=900, cost_usd=0.02)
LIMIT_S = 20.0


class Steps:
    """Port LiveWork and LiveRun over a list."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, ...]] = []
        self.ended: list[str] = []
        self.folded: list[str] = []

    def fold_left(self, thread_id: str) -> None:
        self.folded.append(thread_id)

    def begin(self, state: ThreadState, title: str) -> Steps:
        return self

    def show(self, steps: Sequence[str]) -> None:
        self.shown.append(tuple(steps))

    def end(self, steps: Sequence[str], said: str) -> None:
        self.shown.append(tuple(steps))
        self.ended.append(said)


class Endless:
    """An investigator, and a validator, whose runs end by a cancel alone, as model runs do."""

    def __init__(self) -> None:
        self.began = threading.Event()

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        return self._run(on_progress)

    def validate(
        self, state: ThreadState, *, run_id: str, summaries: Sequence[str] = (), on_progress: OnProgress | None = None
    ) -> Validation:
        return self._run(on_progress)

    def _run(self, on_progress: OnProgress | None) -> Validation:  # type: ignore[return]
        assert isinstance(on_progress, RunWatch)
        on_progress(RunProgress(tool_calls=1, call='read_file {"path": "a.py"}'))
        self.began.set()
        assert on_progress.cancel.wait(LIMIT_S)
        raise RunCancelled("the run was cancelled", usage=SPENT)


def stopped(office: Office, endless: Endless) -> float:
    """Ask, click Stop once the run is under way, and return how long it went on."""
    office.arrive(an_event("How often do we retry?"))
    working = threading.Thread(target=office.work)
    working.start()
    assert endless.began.wait(LIMIT_S)
    state = office.store.get(THREAD_ID)
    assert state is not None
    office.decisions.stop(click_of(state), by=BEN)
    begun = time.monotonic()
    working.join(LIMIT_S)
    return time.monotonic() - begun


def test_stop_ends_the_spending_and_says_what_it_cost(tmp_path: Path) -> None:
    """Within two seconds; a second click comes too late."""
    office, endless, steps = Office(tmp_path), Endless(), Steps()
    office.service = replace(office.service, live=steps)
    office.investigator = endless  # type: ignore[assignment]
    office.rehire()
    assert stopped(office, endless) < 2
    state = office.shown
    assert (state.status, state.pending_reason, state.usage) == (
        ThreadStatus.PENDING_USER,
        PendingReason.STOPPED,
        SPENT,
    )
    assert state.status_history[-1].why == "stopped by <@U2>"
    assert (steps.ended, steps.shown[-1]) == (["stopped"], ("Investigating", "Reading a.py"))
    with pytest.raises(Conflict):
        office.decisions.stop(click_of(state), by=BEN)


def test_what_was_drafted_until_then_is_kept(tmp_path: Path) -> None:
    """Stopped while the second model looks at it: it can be edited and approved, and is not called checked."""
    office, endless = Office(tmp_path, a_return(draft_reply="Five times.")), Endless()
    office.validator = endless  # type: ignore[assignment]
    office.rehire()
    stopped(office, endless)
    state = office.shown
    assert (state.pending_reason, state.draft_pending, state.validator_return) == ("stopped", "Five times.", None)
    office.decisions.approve(click_of(state), by=BEN)
    [record] = office.log.records()
    assert record["validator_verdict"] == "none"


def test_steps_that_a_dead_process_left_are_folded_by_who_works_on_the_thread(tmp_path: Path) -> None:
    """By its next job before anything else; by the duty where no job comes any more."""
    office, steps = Office(tmp_path), Steps()
    office.service = replace(office.service, live=steps)
    office.rehire()
    office.arrive(an_event("How often do we retry?"))
    live = LiveShown(line="Investigating: interrupted", channel="C0OPS", thread_ts="5.0", at=office.clock.now())
    office.service.shown.evolve(THREAD_ID, live=live)
    fold_all_left(office.service)
    assert steps.folded == []
    office.work()
    fold_all_left(office.service)
    assert steps.folded == [THREAD_ID, THREAD_ID]
