"""After a restart the cards that stand as they should are left alone, and what happens now is shown first."""

from __future__ import annotations

from pathlib import Path

from bot.casework.acknowledgements import Turns
from tests.builders import an_event
from tests.casework.office import Office


def waiting(folder: Path, count: int) -> Office:
    office = Office(folder)
    for number in range(count):
        office.arrive(an_event(f"How often do we retry job {number}?", f"{1_700_000_000 + number}.000100"))
    office.work()
    return office


def shows(office: Office) -> int:
    return sum(len(card.shown) for card in office.messenger.cards)


def test_no_card_is_shown_again_where_nothing_changed(tmp_path: Path) -> None:
    """However many drafts wait, and the next question's card comes at once."""
    office = waiting(tmp_path, 8)
    before = shows(office)
    office.restart()
    office.service.cards.catch_up()
    assert shows(office) == before
    office.arrive(an_event("And how long do we wait?", "1800000001.000100"))
    office.work()
    assert office.messenger.cards[-1].shown[-1].draft_pending


def test_the_card_that_differs_is_shown(tmp_path: Path) -> None:
    """The process died after it saved a change and before it showed it; or nobody knows what the card shows."""
    office = waiting(tmp_path, 3)
    changed, unknown, _ = (card.thread_id for card in office.messenger.cards)
    office.store.amend(changed, lambda now: now.with_draft("Twice."))
    del office.cards_shown.texts["cards_shown", unknown]
    before = {card.thread_id: len(card.shown) for card in office.messenger.cards}
    office.restart()
    office.service.cards.catch_up()
    again = {card.thread_id for card in office.messenger.cards if len(card.shown) > before[card.thread_id]}
    assert again == {changed, unknown}


def test_a_card_that_was_deleted_meanwhile_is_posted_again(tmp_path: Path) -> None:
    """Somebody has to decide on it, and nothing else would bring it back before the next change."""
    office = waiting(tmp_path, 3)
    gone = office.messenger.cards.pop(1)
    before = shows(office)
    office.restart()
    office.service.cards.catch_up()
    assert shows(office) == before + 1
    [again] = [card for card in office.messenger.cards if card.thread_id == gone.thread_id]
    state = office.store.get(gone.thread_id)
    assert state is not None
    assert state.card_ts == again.ts != gone.ts


def test_an_open_card_moves_with_the_ops_channel(tmp_path: Path) -> None:
    """Whoever reads the channel of before sees no word more of it, and who decides now finds it."""
    office = waiting(tmp_path, 2)
    moved, stays = (card.thread_id for card in office.messenger.cards)
    state = office.store.get(moved)
    assert state is not None
    office.store.evolve(moved, card_channel="C0BEFORE", card_ts="1700000000.000009")
    office.restart()
    before = shows(office)
    office.service.cards.catch_up()
    assert shows(office) == before + 1
    state = office.store.get(moved)
    assert state is not None
    assert state.card_channel == "C0OPS"
    assert office.messenger.removed == [("C0BEFORE", "1700000000.000009")]
    office.service.cards.show_card(stays)
    assert len(office.messenger.removed) == 1


def test_nothing_is_kept_of_a_card_whose_thread_has_ended(tmp_path: Path) -> None:
    """The folder does not grow."""
    office = Office(tmp_path).asked()
    assert office.cards_shown.texts
    office.decisions.dismiss(office.click(), by="U2", reason=None)
    assert not office.cards_shown.texts


def test_what_happens_now_is_shown_before_what_a_restart_left() -> None:
    """However long the others have waited."""
    turns = Turns()
    for item in ("old 1", "old 2", "new"):
        turns.postpone(item, 0)
    left = {"old 1", "old 2"}
    assert [turns.next(last=left) for _ in range(4)] == ["new", "old 1", "old 2", None]
