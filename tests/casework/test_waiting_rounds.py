"""Questions whose model provider is away: they wait, are tried again when due, and hold no job meanwhile."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.agent.model_run import ModelUnavailable
from bot.domain.returns import Usage, Verdict
from bot.domain.threads import PendingReason, ThreadStatus
from bot.domain.waits import MAX_MODEL_PAUSE, WaitFor
from bot.errors import CodebaseUnreadable
from tests.builders import a_return
from tests.casework.office import Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

SPENT = Usage(input_tokens=100, cost_usd=0.25)


def away(retry_after_s: float | None = None) -> ModelUnavailable:
    """Return how a run ends while the provider is overloaded."""
    return ModelUnavailable("it is overloaded", usage=SPENT, code="overloaded", retry_after_s=retry_after_s)


def tick(office: Office, seconds: float = 0) -> None:
    """Let time pass, then look for what is due and work the queue off."""
    office.clock.advance(seconds)
    office.rounds.tick()
    office.work()


def test_a_question_waits_until_the_provider_is_back(tmp_path: Path) -> None:
    """It fails nobody, its card says when it is tried next, and what the attempts cost is counted."""
    office = Office(tmp_path, away(), away(), a_return()).asked()
    asked_at = office.clock.now()
    assert office.state.status is ThreadStatus.INVESTIGATING
    assert office.shown.wait == office.state.wait
    assert office.state.wait is not None
    assert (office.state.wait.what, office.state.wait.why) == (WaitFor.MODEL, "overloaded")
    assert office.state.wait.until == asked_at + timedelta(seconds=15)
    tick(office, 15)
    assert office.state.wait.until == asked_at + timedelta(seconds=45)
    tick(office, 30)
    assert office.state.pending_reason is PendingReason.APPROVAL
    assert office.shown.wait is None
    assert office.state.usage is not None
    assert office.state.usage.cost_usd == 0.5


def test_nothing_is_queued_or_tried_before_its_time(tmp_path: Path) -> None:
    """Neither by a tick nor by whatever else queues the thread."""
    office = Office(tmp_path, away(retry_after_s=60), a_return()).asked()
    assert office.jobs.claim() is None
    tick(office, 59)
    office.service.queue(office.state.thread_id)
    office.work()
    assert len(office.investigator.assignments) == 1
    tick(office, 1)
    assert office.state.pending_reason is PendingReason.APPROVAL


@each_row("advised_s, waits_s", [(None, 15), (0, 1), (120, 120), (7200, MAX_MODEL_PAUSE.total_seconds())])
def test_the_provider_says_when_but_at_most_a_quarter_of_an_hour(
    tmp_path: Path, advised_s: float | None, waits_s: float
) -> None:
    """Retry-After is obeyed up to there."""
    office = Office(tmp_path, away(advised_s)).asked()
    assert office.state.wait is not None
    assert office.state.wait.until == office.clock.now() + timedelta(seconds=waits_s)


@each_row("advised_s", [None, 0])
def test_the_pauses_grow_to_a_quarter_of_an_hour(tmp_path: Path, advised_s: float | None) -> None:
    """And no further, also where the provider's advice does not help."""
    office = Office(tmp_path, away(advised_s)).asked()
    for _ in range(12):
        tick(office, MAX_MODEL_PAUSE.total_seconds())
    assert office.state.wait is not None
    assert (office.state.wait.tries, office.state.wait.until) == (13, office.clock.now() + MAX_MODEL_PAUSE)


def test_a_provider_and_a_codebase_that_fail_in_turn_are_one_wait(tmp_path: Path) -> None:
    """It ends as any other does, though each attempt meets something else."""
    unreadable = CodebaseUnreadable("git cannot read it")
    office = Office(tmp_path, away(), unreadable, away(), unreadable, expire_after="1h").asked()
    began = office.state.wait.since if office.state.wait else None
    tick(office, 900)
    assert office.state.wait is not None
    assert (office.state.wait.what, office.state.wait.since) == (WaitFor.CODEBASE, began)
    tick(office, 3600)
    assert office.state.pending_reason is PendingReason.FAILED


def test_a_draft_waits_for_its_validator_too(tmp_path: Path) -> None:
    """It is not investigated again for that."""
    office = Office(tmp_path, verdicts=[away(), Verdict.PASS]).asked()
    assert office.state.status is ThreadStatus.AWAITING_VALIDATION
    tick(office, 15)
    assert office.state.pending_reason is PendingReason.APPROVAL
    assert len(office.investigator.assignments) == 1


def test_who_waits_longer_than_a_card_may_is_handed_to_the_human(tmp_path: Path) -> None:
    """With the reason, and nothing is tried after that."""
    office = Office(tmp_path, away(), expire_after="1h").asked()
    for _ in range(6):
        tick(office, MAX_MODEL_PAUSE.total_seconds())
    assert office.state.pending_reason is PendingReason.FAILED
    assert "it is overloaded" in office.state.status_history[-1].why
    assert office.state.wait is None
    tries = len(office.investigator.assignments)
    tick(office, MAX_MODEL_PAUSE.total_seconds())
    assert len(office.investigator.assignments) == tries


def test_a_restart_keeps_the_wait(tmp_path: Path) -> None:
    """It is neither tried early nor forgotten, and answered once."""
    office = Office(tmp_path, away(retry_after_s=600), a_return()).asked()
    assert office.restart() == []
    assert len(office.investigator.assignments) == 1
    tick(office, 600)
    tick(office, 600)
    assert len(office.investigator.assignments) == 2
    assert office.state.pending_reason is PendingReason.APPROVAL


def test_wherever_the_process_dies_a_waiting_question_gets_one_draft(tmp_path: Path) -> None:
    """Killed at any effect of asking, waiting and trying again, then started."""

    def build(faults: Faults) -> Office:
        return Office(tmp_path, away(), a_return(), faults=faults)

    def story(office: Office) -> None:
        office.asked()
        tick(office, 15)

    ends = crash_everywhere(build, story)
    assert len(ends) > 20
    for where, office in ends:
        office.restart()
        for _ in range(3):
            tick(office, 60)
        if not office.store.threads():  # nobody acknowledged the message: it comes again
            assert where == "queue: before a job"
            continue
        assert office.state.pending_reason is PendingReason.APPROVAL, where
        assert office.state.wait is None, where
        steps = [step.to for step in office.state.status_history]
        assert steps == [ThreadStatus.AWAITING_VALIDATION, ThreadStatus.PENDING_USER], where
        assert len(office.messenger.cards) == 1, where
        assert not office.jobs.waiting, where
