"""The start after a crash: everything half done is finished, nothing is done twice."""

from __future__ import annotations

from pathlib import Path

from bot.casework.recovery import CrashRecovery
from bot.domain.jobs import ContinueThread
from bot.domain.threads import PendingReason, PostIntent, Resolution, ThreadStatus
from tests.builders import NOW, THREAD_ID, in_status
from tests.casework.office import BEN, Office
from tests.tables import each_row


@each_row("status", [ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION, ThreadStatus.BOUNCED])
def test_a_thread_nobody_works_on_gets_a_job(tmp_path: Path, status: ThreadStatus) -> None:
    """A crash between the state and the queue leaves a thread without a job; it goes on to its draft."""
    office = Office(tmp_path)
    office.store.put(in_status(status))
    assert office.restart() == []
    assert office.state.status is ThreadStatus.PENDING_USER
    assert len(office.messenger.cards) == 1


def test_a_thread_whose_job_waits_gets_no_second_one(tmp_path: Path) -> None:
    """Recovery looks into the queue first."""
    office = Office(tmp_path)
    office.store.put(in_status(ThreadStatus.INVESTIGATING))
    office.jobs.put(ContinueThread(thread_id=THREAD_ID))
    CrashRecovery(office.service, office.replies).recover()
    assert len(office.jobs.waiting) == 1


def test_a_closed_thread_left_in_the_store_is_archived(tmp_path: Path) -> None:
    """And its card shows how it ended."""
    office = Office(tmp_path)
    office.store.put(in_status(ThreadStatus.CLOSED))
    assert office.restart() == []
    assert office.ended.resolution is Resolution.DISMISSED
    assert office.shown.status is ThreadStatus.CLOSED


@each_row("reason", PendingReason)
def test_a_thread_that_waits_for_a_human_is_left_alone(tmp_path: Path, reason: PendingReason) -> None:
    """It stays as it was, and no job is made."""
    office = Office(tmp_path)
    before = office.store.put(in_status(ThreadStatus.PENDING_USER, reason))
    assert office.restart() == []
    assert office.state == before
    assert office.investigator.assignments == []


def test_one_thread_that_cannot_be_settled_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """The problem is returned with the thread's id; the rest is settled."""
    office = Office(tmp_path)
    claimed = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, approved_by=BEN)
    intent = PostIntent(at=NOW, draft_hash=claimed.draft_hash or "")
    office.store.put(claimed.evolve(thread_id="T1.C1.1.1", post_intent=intent))
    office.store.put(in_status(ThreadStatus.CLOSED, thread_id="T1.C1.2.2"))
    office.workspace.unreadable.add("C1")
    [problem] = office.restart()
    assert problem.startswith("T1.C1.1.1: ")
    assert office.store.get("T1.C1.2.2") is None


def test_a_claim_without_a_draft_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    """A state file from another time must not keep the bot from starting."""
    office = Office(tmp_path)
    intent = PostIntent(at=NOW, draft_hash="0" * 16)
    office.store.put(in_status(ThreadStatus.PENDING_USER, PendingReason.FAILED, post_intent=intent))
    [problem] = office.restart()
    assert "Nothing is left to do" in problem
