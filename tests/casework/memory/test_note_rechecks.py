"""A note whose lines changed is asked about once; what people decide is carried out once, whatever crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.domain.memory.notes import NoteCitation
from bot.domain.memory.rechecks import RecheckOutcome
from bot.errors import InputError
from tests.casework.office import BEN
from tests.casework.recheck_room import SEVEN, WORDS, Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "room")


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


def test_a_retired_note_lies_where_no_search_looks(room: Room) -> None:
    """Nothing is deleted, and the card says where it is."""
    room.commit(SEVEN)
    room.rechecks.decide(room.cards.last.id, RecheckOutcome.RETIRED, by=BEN)
    assert list(room.shelf.all()) == []
    assert (room.memory / "retired" / "retries.md").read_text().endswith(WORDS)
    assert room.cards.last.retired_as == "memory/retired/retries.md"
    room.commit(SEVEN.replace("7", "9"))
    assert len(room.cards.shown) == 1


def test_a_card_nobody_made_is_refused(room: Room) -> None:
    """A forged id."""
    with pytest.raises(InputError, match="no longer stored"):
        room.rechecks.decide("0" * 16, RecheckOutcome.RETIRED, by=BEN)
