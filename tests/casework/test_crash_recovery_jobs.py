"""A job that cannot be done: its thread is handed to a human with the reason, and can be investigated again."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.casework.recovery import GivingUp
from bot.domain.jobs import DEADLY_DEATHS, ContinueThread, Job, QuestionAsked, Work
from bot.domain.threads import PendingReason, ThreadStatus
from bot.errors import Unavailable
from tests.builders import THREAD_ID, an_event, in_status
from tests.casework.office import BEN, Office


def a_job(work: Work) -> Job:
    return Job(kind=work.kind, job_id="1", epoch_ms=1, key=work.key, work=work, deaths_alone=DEADLY_DEATHS)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A casework office."""
    return Office(tmp_path)


@pytest.fixture
def said() -> list[str]:
    """What the ops channel was told."""
    return []


@pytest.fixture
def giving_up(office: Office, said: list[str]) -> GivingUp:
    """What is tried, over the office."""
    return GivingUp(office.service, office.orchestrator, said.append)


@pytest.mark.parametrize("status", [ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION, ThreadStatus.BOUNCED])
def test_a_thread_that_the_bot_died_of_waits_for_a_human(
    office: Office, giving_up: GivingUp, said: list[str], status: ThreadStatus
) -> None:
    """Its card says why, and Re-investigate works it off as ever."""
    office.store.put(in_status(status))
    assert giving_up.deadly(a_job(ContinueThread(thread_id=THREAD_ID)))
    assert (office.state.status, office.state.pending_reason) == (ThreadStatus.PENDING_USER, PendingReason.FAILED)
    assert "died 3 times" in office.shown.status_history[-1].why
    assert len(said) == 1
    assert "offers to investigate it again" in said[0]
    office.decisions.reinvestigate(office.click(), by=BEN)
    office.work()
    assert office.state.pending_reason is PendingReason.APPROVAL


@pytest.mark.parametrize("status", [ThreadStatus.INVESTIGATING, ThreadStatus.PENDING_USER])
def test_however_often_its_card_is_refused_it_is_told_of_once(
    office: Office, giving_up: GivingUp, said: list[str], status: ThreadStatus
) -> None:
    """A card that may still be on its way to the chat holds the job up for minutes."""
    office.store.put(in_status(status))
    office.messenger.card_refused = Unavailable("Slack is down")
    job = a_job(ContinueThread(thread_id=THREAD_ID))
    for _ in range(3):
        with pytest.raises(Unavailable):
            giving_up.deadly(job)
    office.messenger.card_refused = None
    assert giving_up.deadly(job)
    assert len(said) == 1


def test_a_question_that_was_never_taken_up_gets_its_card(office: Office, giving_up: GivingUp) -> None:
    """The bot died before its state was on disk; nothing of it is investigated now."""
    event = an_event("How often do we retry?")
    assert giving_up.deadly(a_job(QuestionAsked(event=event)))
    assert office.state.pending_reason is PendingReason.FAILED
    assert office.state.question == "How often do we retry?"
    assert len(office.messenger.cards) == 1
    assert office.investigator.assignments == []


def test_nobody_gives_up_on_a_thread_that_has_its_draft(office: Office, giving_up: GivingUp, said: list[str]) -> None:
    """A later job of it could not be done; the draft waits as before."""
    before = office.asked().state
    assert giving_up.given_up(
        a_job(ContinueThread(thread_id=THREAD_ID)).model_copy(update={"failures": ("no such user",)})
    )
    assert office.state == before
    assert said == [f"A later job for thread {THREAD_ID} failed: no such user. Its card is unchanged."]


def test_a_job_that_failed_three_times_leaves_a_card(office: Office, giving_up: GivingUp) -> None:
    """Not only deaths: an error that stays leaves the same card, also while the chat is down."""
    office.store.put(in_status(ThreadStatus.INVESTIGATING, card_channel="C0OPS", card_ts="1800000000.000009"))
    office.messenger.card_refused = Unavailable("Slack is down")
    assert giving_up.given_up(
        a_job(ContinueThread(thread_id=THREAD_ID)).model_copy(update={"failures": ("unexpected KeyError",)})
    )
    office.messenger.card_refused = None
    office.service.cards.catch_up(at_once=True)
    assert "unexpected KeyError" in office.shown.status_history[-1].why
