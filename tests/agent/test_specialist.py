"""Limits stop a run before they are exceeded, and say whose limit it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.agent.model_run import RunFailed, RunRequest, RunResult, SpendLimitReached
from bot.agent.specialist import Allowance, Budget
from bot.casework.investigate.model_investigator import InvestigatorAnswer
from bot.domain.returns import Usage
from tests.casework.runner import ScriptedRunner, answered
from tests.fakes import FakeClock, MemoryJournal

REQUEST = RunRequest(model="m", system="s", prompt="p", answer=InvestigatorAnswer)


def costing(usd: float | None) -> Usage:
    return Usage(input_tokens=10, output_tokens=1, cost_usd=usd)


class Purse:
    """A journal, a clock and limits."""

    def __init__(self, journal: Any = None, *, per_thread_usd: float | None = None, **limits: Any) -> None:
        self.journal = journal or MemoryJournal()
        self.clock = FakeClock()
        self.limits = limits
        self.allowance = None if per_thread_usd is None else Allowance(usd=per_thread_usd, whose="this thread")
        self.spending = Budget(self.journal, self.clock, **limits)

    def run(self, runner: Any = None, *, spent: float = 0.0, usd: float | None = 0.5) -> RunResult:
        self.runner = runner or ScriptedRunner(answered(), usage=costing(usd))
        return self.spending.run(self.runner, REQUEST, run_id="r1", spent_usd=spent, allowance=self.allowance)

    def granted(self) -> float | None:
        return self.runner.requests[-1].limits.spend_usd


def test_without_limits_a_run_is_not_bounded() -> None:
    """And is written down all the same."""
    purse = Purse()
    purse.run()
    assert purse.granted() is None
    assert [record["cost_usd"] for record in purse.journal.records()] == [0.5]


def test_a_run_gets_what_its_thread_has_left() -> None:
    """Rounds and validators share one limit."""
    purse = Purse(per_thread_usd=2.0, per_day_usd=100.0)
    purse.run(spent=1.25)
    assert purse.granted() == 0.75


def test_a_thread_with_nothing_left_makes_no_call() -> None:
    """The card says whose limit, and how much."""
    purse = Purse(per_thread_usd=2.0)
    with pytest.raises(SpendLimitReached, match=r"^spend limit of \$2\.00 for this thread reached$"):
        purse.run(spent=2.0)
    assert purse.runner.requests == []
    assert list(purse.journal.records()) == []


def test_the_runners_refusal_is_told_in_our_words_and_paid_for() -> None:
    """What was spent until then is not lost."""
    purse = Purse(per_thread_usd=2.0)
    with pytest.raises(SpendLimitReached, match=r"for this thread") as caught:
        purse.run(ScriptedRunner(SpendLimitReached("worst case", usage=costing(0.3))))
    assert caught.value.usage.cost_usd == 0.3
    assert [record["cost_usd"] for record in purse.journal.records()] == [0.3]


def test_a_failed_run_counts() -> None:
    """Usage is never lost."""
    purse = Purse(per_day_usd=1.0)
    with pytest.raises(RunFailed):
        purse.run(ScriptedRunner(RunFailed("cut", usage=costing(0.9))))
    purse.run(usd=0.0)
    assert purse.granted() == pytest.approx(0.1)


def test_the_day_is_remembered_over_a_restart_and_forgotten_the_day_after(tmp_path: Path) -> None:
    """The journal on disk is the memory."""
    journal = NdjsonJournal(tmp_path / "spend.ndjson")
    Purse(journal, per_day_usd=1.0).run(usd=0.9)
    again = Purse(NdjsonJournal(tmp_path / "spend.ndjson"), per_day_usd=1.0)
    again.run(usd=0.1)
    assert again.granted() == pytest.approx(0.1)
    with pytest.raises(SpendLimitReached, match=r"\$1\.00 for today"):
        again.run()
    again.clock.advance(24 * 3600)
    again.run(usd=0.0)
    assert again.granted() == 1.0


def test_runs_at_the_same_time_share_no_dollar() -> None:
    """Together they cannot exceed the day's limit, whatever each spends of its share."""
    purse = Purse(per_day_usd=4.0, at_once=2)
    grants: list[float | None] = []

    def outer(request: RunRequest) -> Any:
        grants.append(request.limits.spend_usd)
        inner = ScriptedRunner(answered(), usage=costing(0.0))
        purse.spending.run(inner, REQUEST, run_id="r2", spent_usd=0.0)
        grants.append(inner.requests[0].limits.spend_usd)
        return answered()

    purse.run(ScriptedRunner(outer, usage=costing(1.0)))
    assert grants == [2.0, 2.0]
    purse.run(usd=0.0)
    assert purse.granted() == 1.5


def test_the_share_of_a_run_that_broke_is_free_again() -> None:
    """Also when it broke in a way nobody foresaw."""
    purse = Purse(per_day_usd=4.0)
    with pytest.raises(ZeroDivisionError):
        purse.run(ScriptedRunner(ZeroDivisionError()))
    purse.run()
    assert purse.granted() == 4.0


def test_what_is_held_for_another_process_is_nobody_elses() -> None:
    """Until it is released; then what its run wrote into the journal counts instead."""
    purse = Purse(per_day_usd=10.0)
    assert purse.spending.hold("T1", 0.0, Allowance(usd=4.0, whose="this thread")) == 4.0
    purse.run(usd=0.0)
    assert purse.granted() == 6.0
    at = purse.clock.now().isoformat()
    purse.journal.append({"at": at, "run_id": "e1", "cost_usd": 2.5})  # another process does
    assert purse.spending.held() == {"T1"}
    purse.spending.release("T1")
    purse.run(usd=0.0)
    assert purse.granted() == 7.5
    purse.spending.release("T1")


def test_a_restart_holds_again_what_was_held() -> None:
    """Once, however often it is said; a run without a limit sets nothing aside."""
    purse = Purse(per_day_usd=10.0)
    purse.spending.hold_again("T1", 4.0)
    purse.spending.hold_again("T1", 4.0)
    purse.spending.hold_again("T2", None)
    purse.run(usd=0.0)
    assert purse.granted() == 6.0


def test_nothing_is_held_where_nothing_is_left() -> None:
    """And the limit is named."""
    purse = Purse(per_day_usd=10.0)
    with pytest.raises(SpendLimitReached, match="for this thread reached"):
        purse.spending.hold("T1", 4.0, Allowance(usd=4.0, whose="this thread"))
    assert purse.spending.held() == frozenset()


def test_what_another_program_cost_counts_for_the_day() -> None:
    """Tokens or none."""
    purse = Purse(per_day_usd=10.0)
    purse.spending.record("e1", "claude", Usage(cost_usd=3.0))
    purse.run(usd=0.0)
    assert purse.granted() == 7.0
