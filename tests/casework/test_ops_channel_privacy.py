"""No question is shown where all can read it, and none is lost for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.casework.ops_channel import BELIEVED_FOR
from bot.domain.threads import ThreadStatus
from bot.errors import InputError, ProviderError, Unavailable
from tests.builders import an_event
from tests.casework.office import Office

MINUTE_S = BELIEVED_FOR.total_seconds()


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An office that has just shown a card, in a channel that was private then."""
    return Office(tmp_path).asked()


def ask(office: Office, ts: str) -> None:
    office.arrive(an_event("Why?", ts))
    job = office.jobs.claim()
    assert job is not None
    try:
        office.do_work(job.work)
    except ProviderError:
        office.jobs.give_back(job, why="not now", count=False)
        raise
    office.jobs.done(job)


def test_no_new_card_is_posted_in_a_public_channel_and_work_goes_on_when_it_is_private_again(office: Office) -> None:
    """The job waits, nothing is investigated unseen, and the channel is told once."""
    office.workspace.private.clear()
    office.clock.advance(MINUTE_S)
    for ts in ("1795165300.000100", "1795165301.000100"):
        with pytest.raises(Unavailable, match="not private"):
            ask(office, ts)
    assert len(office.messenger.cards) == 1
    assert len(office.investigator.assignments) == 1
    [told] = office.messenger.told
    assert "no longer private" in told
    office.workspace.private.add("C0OPS")
    office.work()
    assert len(office.messenger.cards) == 3
    assert {state.status for state in office.store.threads()} == {ThreadStatus.PENDING_USER}
    assert len(office.messenger.told) == 1


def test_a_private_channel_is_asked_about_once_a_minute(office: Office) -> None:
    """Within a minute it is believed, after it asked again; a clock that jumps back is not believed."""
    office.workspace.private.clear()
    ask(office, "1795165300.000100")
    office.clock.advance(-MINUTE_S)
    with pytest.raises(Unavailable):
        ask(office, "1795165301.000100")


def test_cards_that_stand_are_still_updated(office: Office) -> None:
    """A decision must be seen on its card, wherever that is now."""
    office.workspace.private.clear()
    office.clock.advance(MINUTE_S)
    office.decisions.dismiss(office.click(), by="U2", reason=None)
    assert office.shown.status is ThreadStatus.CLOSED


def test_a_draft_that_comes_after_the_channel_went_public_waits_for_a_private_one(office: Office) -> None:
    """Its card stands already and goes on saying that it is looked into; the draft is shown once nobody else reads."""
    office.decisions.reinvestigate(office.click(), by="U2")
    office.workspace.private.clear()
    office.clock.advance(MINUTE_S)
    office.work()
    assert office.state.status is ThreadStatus.PENDING_USER
    assert office.shown.draft_pending is None
    assert len(office.messenger.told) == 1
    office.workspace.private.add("C0OPS")
    office.service.cards.catch_up(at_once=True)
    assert office.shown.draft_pending == office.state.draft_pending


def test_what_an_approval_finds_out_counts_at_once(office: Office) -> None:
    """The minute of trust ends with the click that is refused."""
    office.workspace.private.clear()
    with pytest.raises(InputError, match="no longer private"):
        office.decisions.approve(office.click(), by="U2")
    with pytest.raises(Unavailable):
        ask(office, "1795165300.000100")
    assert len(office.messenger.cards) == 1


def test_a_chat_that_cannot_say_is_no_private_channel(office: Office) -> None:
    """Fail closed: no card on a guess."""
    office.clock.advance(MINUTE_S)
    office.workspace.down = True
    with pytest.raises(ProviderError):
        office.service.cards.guard.require()
    assert office.messenger.told == []
