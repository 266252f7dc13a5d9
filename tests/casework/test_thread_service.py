"""A card shows the newest state in the end, whatever the chat refuses meanwhile, and no work waits for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from bot.domain.threads import Resolution, ThreadStatus
from bot.errors import ProviderError, Unavailable
from tests.builders import THREAD_ID
from tests.casework.office import BEN, Office

WAIT_S = 120.0
BUSY = Unavailable("Slack could not update the card: ratelimited", retry_after_s=30)
CLOSED = ProviderError("Slack could not post the card: is_archived; the channel is archived", code="is_archived")


def refuse_updates(office: Office, error: ProviderError | None) -> None:
    office.messenger.card_refused = error


class TestDesk:
    """The turns at work."""

    def test_an_update_slack_refuses_for_its_rate_fails_no_job(self, tmp_path: Path) -> None:
        """The investigation goes on to its end; the card follows with the state of then, in one update."""
        office = Office(tmp_path)
        first_card = office.messenger.show_card

        def show_card(*args: object, **kwargs: object) -> tuple[str, str]:
            place = first_card(*args, **kwargs)  # type: ignore[arg-type]
            refuse_updates(office, BUSY)
            return place

        office.messenger.show_card = show_card  # type: ignore[method-assign]
        office.asked()
        assert office.state.status is ThreadStatus.PENDING_USER
        assert office.shown.status is ThreadStatus.INVESTIGATING
        refuse_updates(office, None)
        office.messenger.show_card = first_card  # type: ignore[method-assign]
        office.service.cards.catch_up(at_once=True)
        assert office.shown == office.state
        assert len(office.messenger.cards[0].shown) == 2

    @pytest.mark.parametrize("error", [BUSY, CLOSED])
    def test_a_first_card_that_slack_refuses_is_waited_for(self, tmp_path: Path, error: ProviderError) -> None:
        """Without a card nobody sees the question: the job comes again, as often as it takes to mend the channel."""
        office = Office(tmp_path)
        refuse_updates(office, error)
        with pytest.raises(Unavailable, match=str(error)):
            office.asked()
        assert office.state.is_at_work

    def test_an_approval_during_a_rate_limit_posts_once_and_closes(self, tmp_path: Path) -> None:
        """The card follows, then the thread leaves for the archive: in this order."""
        office = Office(tmp_path).asked()
        refuse_updates(office, BUSY)
        assert office.decisions.approve(office.click(), by=BEN) == "Posted."
        assert len(office.messenger.posts) == 1
        assert office.state.status is ThreadStatus.CLOSED
        refuse_updates(office, None)
        office.service.cards.catch_up(at_once=True)
        assert office.ended.resolution is Resolution.APPROVED
        assert office.shown.resolution is Resolution.APPROVED
        assert len(office.messenger.posts) == 1

    def test_many_changes_during_a_rate_limit_become_one_update(self, tmp_path: Path) -> None:
        """And what a later show brought in line is not shown a second time."""
        office = Office(tmp_path).asked()
        count = len(office.messenger.cards[0].shown)
        refuse_updates(office, BUSY)
        for number in range(20):
            edited = office.decisions.edit(click_of(office.state), f"Version {number}.", by=BEN)
            office.decisions.refresh_card(edited)
        refuse_updates(office, None)
        office.service.cards.show_card(THREAD_ID)
        office.service.cards.catch_up(at_once=True)
        assert len(office.messenger.cards[0].shown) == count + 1
        assert office.shown.draft_pending == "Version 19."

    def test_a_card_shown_to_its_end_is_never_overwritten_by_an_older_one(self, tmp_path: Path) -> None:
        """Finishing waits for the update under way, and says so where that takes too long."""
        office = Office(tmp_path).asked()
        inside, free = threading.Event(), threading.Event()
        show_card = office.messenger.show_card

        def slow(*args: object, **kwargs: object) -> tuple[str, str]:
            if kwargs.get("progress"):
                inside.set()
                assert free.wait(WAIT_S)
            return show_card(*args, **kwargs)  # type: ignore[arg-type]

        office.messenger.show_card = slow  # type: ignore[method-assign]
        click = office.click()
        progress = threading.Thread(target=office.service.cards.show_progress, args=(THREAD_ID, "x"), daemon=True)
        progress.start()
        assert inside.wait(WAIT_S)
        dismissing = threading.Thread(target=office.decisions.dismiss, args=(click,), kwargs={"by": BEN, "reason": ""})
        dismissing.start()
        free.set()
        dismissing.join(WAIT_S)
        progress.join(WAIT_S)
        office.service.cards.catch_up(at_once=True)  # on a busy machine the dismissal may have waited too long for it
        assert office.shown.resolution is Resolution.DISMISSED
        assert office.ended.resolution is Resolution.DISMISSED

    def test_a_card_in_a_channel_that_is_closed_follows_once_it_is_open(self, tmp_path: Path) -> None:
        """The bot is invited again, or the token is renewed."""
        office = Office(tmp_path).asked()
        office.decisions.edit(office.click(), "By hand.", by=BEN)
        refuse_updates(office, CLOSED)
        assert not office.service.cards.show_card(THREAD_ID)
        office.service.cards.catch_up(at_once=True)
        assert office.shown.draft_pending != "By hand."
        refuse_updates(office, None)
        office.service.cards.catch_up(at_once=True)
        assert office.shown.draft_pending == "By hand."
