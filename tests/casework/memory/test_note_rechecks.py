"""A note whose lines changed is asked about once; what people decide is carried out once, whatever crashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.domain.memory.notes import NoteCitation
from bot.domain.memory.rechecks import RecheckOutcome
from bot.errors import Conflict, InputError, StoreError, Unavailable
from tests.casework.office import ANN, BEN
from tests.casework.recheck_room import FIVE, MOVED, SEVEN, WORDS, Room
from tests.fakes import Crash, Faults
from tests.tables import each_row


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "room")


def test_nobody_is_asked_while_the_lines_stand(room: Room) -> None:
    """Wherever in their file; a note of people's own is never looked at."""
    (room.memory / "own.md").write_text("# Own\n\nLIMIT = 5\n")
    room.rechecks.tick()
    room.commit(MOVED)
    assert room.cards.shown == {}


def test_people_are_asked_once_and_shown_what_stands_there_now(room: Room) -> None:
    """However often HEAD moves on, and after a restart; later changes wait for the decision."""
    head = room.commit(f"# one more line\n{SEVEN}")
    asked = room.cards.last
    [change] = asked.changes
    assert (change.cite, change.now) == (
        room.cite,
        NoteCitation(path="app/retry.py", lines="4", commit=head, quote="LIMIT = 7"),
    )
    assert (asked.ref, asked.title, asked.excerpt) == (
        "memory/retries.md",
        "Retries",
        "The gateway is retried five times.",
    )
    for text in (SEVEN, SEVEN.replace("7", "9")):
        room.start()
        room.commit(text)
        room.rechecks.tick()
    [shown] = room.cards.shown.values()
    assert shown == [asked]


def test_still_true_pins_the_lines_as_the_card_showed_them(room: Room) -> None:
    """Every word of the note stays; the next change is asked about anew."""
    head = room.commit(SEVEN)
    room.rechecks.decide(room.cards.last.id, RecheckOutcome.KEPT, by=BEN)
    assert room.cited == (NoteCitation(path="app/retry.py", lines="3", commit=head, quote="LIMIT = 7"),)
    assert (room.memory / "retries.md").read_text().endswith(f"---\n\n{WORDS}")
    assert (room.cards.last.outcome, room.cards.last.decided_by) == (RecheckOutcome.KEPT, BEN)
    room.commit(f"{SEVEN}\n# unrelated\n")
    assert len(room.cards.shown) == 1
    room.commit(SEVEN.replace("7", "9"))
    assert len(room.cards.shown) == 2
    assert room.cards.last.changes[0].cite.quote == "LIMIT = 7"


def test_what_changed_behind_an_old_card_is_asked_about_after_the_click(room: Room) -> None:
    """Still true is said of what the card showed, not of what nobody has seen."""
    room.commit(SEVEN)
    given = room.cards.last.id
    room.commit(SEVEN.replace("7", "9"))
    room.rechecks.decide(given, RecheckOutcome.KEPT, by=BEN)
    assert [cite.quote for cite in room.cited] == ["LIMIT = 7"]
    room.rechecks.tick()
    [change] = room.cards.last.changes
    assert (change.cite.quote, change.now and change.now.quote) == ("LIMIT = 7", "LIMIT = 9")


def test_a_decision_that_comes_during_a_look_through_the_notes_stays(room: Room, tmp_path: Path) -> None:
    """Another replica's click is not written over by what was read before it."""
    room.commit(SEVEN)
    given = room.cards.last.id
    look_through = room.stored.change

    def decided_meanwhile(change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        room.stored.change = look_through  # type: ignore[method-assign]
        room.rechecks.decide(given, RecheckOutcome.RETIRED, by=BEN)
        look_through(change)

    room.stored.change = decided_meanwhile  # type: ignore[method-assign]
    room.commit(SEVEN.replace("7", "9"))
    assert (room.cards.last.outcome, room.cards.last.decided_by) == (RecheckOutcome.RETIRED, BEN)
    assert list(room.shelf.all()) == []


def test_a_retired_note_lies_where_no_search_looks(room: Room) -> None:
    """Nothing is deleted, and the card says where it is."""
    room.commit(SEVEN)
    room.rechecks.decide(room.cards.last.id, RecheckOutcome.RETIRED, by=BEN)
    assert list(room.shelf.all()) == []
    assert (room.memory / "retired" / "retries.md").read_text().endswith(WORDS)
    assert room.cards.last.retired_as == "memory/retired/retries.md"
    room.commit(SEVEN.replace("7", "9"))
    assert len(room.cards.shown) == 1


@pytest.mark.parametrize("second", [RecheckOutcome.KEPT, RecheckOutcome.RETIRED])
def test_the_second_click_learns_of_the_first(room: Room, second: RecheckOutcome) -> None:
    """And changes nothing, after a restart too."""
    room.commit(SEVEN)
    given = room.cards.last.id
    room.rechecks.decide(given, RecheckOutcome.KEPT, by=BEN)
    room.start()
    with pytest.raises(Conflict, match=f"<@{BEN}> decided already: kept"):
        room.rechecks.decide(given, second, by=ANN)
    assert [cite.quote for cite in room.cited] == ["LIMIT = 7"]


def test_a_card_nobody_made_is_refused(room: Room) -> None:
    """A forged id."""
    with pytest.raises(InputError, match="no longer stored"):
        room.rechecks.decide("0" * 16, RecheckOutcome.RETIRED, by=BEN)


@pytest.mark.parametrize("text", [None, "", "def retry():\n    pass\n", 'password = "hG7$kq2Lz9pW"\n'])
def test_lines_that_are_gone_or_must_not_be_shown_are_shown_as_gone(room: Room, text: str | None) -> None:
    """A file that went, lines that were taken out, a secret in their place; still true then cites nothing there."""
    room.commit(text)
    assert room.cards.last.changes[0].now is None
    room.rechecks.decide(room.cards.last.id, RecheckOutcome.KEPT, by=BEN)
    assert room.cited == ()


def test_lines_that_stand_again_need_nobody_and_are_asked_about_on_the_same_card(room: Room) -> None:
    """A revert; and the revert of the revert, without a second message."""
    room.commit(SEVEN)
    room.commit(FIVE)
    assert room.cards.last.outcome is RecheckOutcome.MOOT
    with pytest.raises(Conflict, match="nothing to decide"):
        room.rechecks.decide(room.cards.last.id, RecheckOutcome.RETIRED, by=BEN)
    room.commit(SEVEN)
    assert room.cards.last.outcome is RecheckOutcome.OPEN
    assert len(room.cards.shown) == 1
    (room.memory / "retries.md").unlink()
    room.commit(SEVEN.replace("7", "9"))
    assert room.cards.last.outcome is RecheckOutcome.GONE


@pytest.mark.parametrize("outcome", [RecheckOutcome.KEPT, RecheckOutcome.RETIRED])
@pytest.mark.parametrize("edit", ["other lines", "removed"])
def test_a_note_that_people_changed_while_its_card_waited_is_not_decided(
    room: Room, outcome: RecheckOutcome, edit: str
) -> None:
    """No card says of it what did not happen."""
    room.commit(SEVEN)
    path = room.memory / "retries.md"
    if edit == "removed":
        path.unlink()
    else:
        path.write_text(path.read_text().replace("LIMIT = 5", "LIMIT = 7"))
    with pytest.raises(Conflict, match="nothing to decide"):
        room.rechecks.decide(room.cards.last.id, outcome, by=BEN)
    assert room.cards.last.outcome is (RecheckOutcome.GONE if edit == "removed" else RecheckOutcome.MOOT)
    assert path.exists() is (edit == "other lines")


def test_notes_that_cannot_be_rewritten_hold_up_no_other(room: Room) -> None:
    """Saved in another encoding, say: their decisions wait, the cards of the rest come."""
    text = (room.memory / "retries.md").read_text()
    for number in range(2):
        (room.memory / f"more-{number}.md").write_text(text)
    room.commit(SEVEN)
    asked = [shown[-1] for shown in room.cards.shown.values()]
    for one in asked:
        path = room.memory / one.ref.removeprefix("memory/")
        path.write_bytes(path.read_bytes() + b"caf\xe9\n")
        with pytest.raises(StoreError):
            room.rechecks.decide(one.id, RecheckOutcome.KEPT, by=BEN)
    (room.memory / "new.md").write_text(text)
    room.commit(SEVEN.replace("7", "9"))
    assert room.cards.last.ref == "memory/new.md"


def test_what_the_chat_refuses_is_asked_later(room: Room) -> None:
    """The question, and the decision's card; a public channel is a refusal."""
    room.cards.refuse = Unavailable("Slack could not ask about a note")
    room.commit(SEVEN)
    room.cards.refuse = None
    room.office.workspace.private.clear()
    room.office.clock.advance(120)
    room.rechecks.tick()
    assert room.cards.shown == {}
    room.office.workspace.private.add("C0OPS")
    room.rechecks.tick()
    room.cards.refuse = Unavailable("Slack could not update a note's card")
    room.rechecks.decide(room.cards.last.id, RecheckOutcome.KEPT, by=BEN)
    room.cards.refuse = None
    room.start()
    room.rechecks.tick()
    assert room.cards.last.outcome is RecheckOutcome.KEPT
    assert len(room.cards.shown) == 1


def test_a_day_of_renaming_does_not_flood_the_channel(room: Room) -> None:
    """A few cards a tick, all of them in the end."""
    text = (room.memory / "retries.md").read_text()
    for number in range(6):
        (room.memory / f"more-{number}.md").write_text(text)
    room.commit(SEVEN)
    assert len(room.cards.shown) == 3
    for _ in range(4):
        room.rechecks.tick()
    assert len(room.cards.shown) == 7


def test_a_codebase_that_cannot_be_read_asks_nobody(room: Room) -> None:
    """And is looked at again at the next tick."""
    room.commit(FIVE)
    (room.code / ".git").rename(room.code / "git")
    room.rechecks.tick()
    (room.code / "git").rename(room.code / ".git")
    room.commit(SEVEN)
    assert len(room.cards.shown) == 1


@each_row("outcome", [RecheckOutcome.KEPT, RecheckOutcome.RETIRED])
def test_wherever_the_process_dies_one_card_and_one_decision_come_of_it(
    tmp_path: Path, outcome: RecheckOutcome
) -> None:
    """The next start goes on from what is on file."""
    for crash_at in range(1, 100):
        room = Room(tmp_path / f"{outcome}-{crash_at}", Faults(crash_at))
        try:
            room.commit(SEVEN)
            room.rechecks.decide(room.cards.last.id, outcome, by=BEN)
        except Crash as crash:
            where = str(crash)
        else:
            assert crash_at > 8
            return
        for _ in range(2):
            room.start()
            room.rechecks.tick()
        assert len(room.cards.shown) == 1, where
        if room.cards.last.outcome is RecheckOutcome.OPEN:
            room.rechecks.decide(room.cards.last.id, outcome, by=BEN)
        assert room.cards.last.outcome is outcome, where
        kept = [cite.quote for note in room.shelf.all() for cite in note.facts.cites]
        assert kept == (["LIMIT = 7"] if outcome is RecheckOutcome.KEPT else []), where
        assert len(list(room.memory.rglob("*.md"))) == 1, where
    raise AssertionError("the story never ends")
