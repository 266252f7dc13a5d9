"""A note is a bare name and what people see of its words, whatever a model or a chat wrote."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.notes import (
    MAX_NOTE_CHARS,
    NAME_CHARS,
    note_text,
    note_words,
    offered_words,
    safe_name,
    visible_words,
)
from tests.tables import each_row


@each_row(
    "proposed, name",
    [
        ("retries.md", "retries"),
        ("/etc/passwd", "etc-passwd"),
        ("..\\..\\boot.ini", "boot-ini"),
        ("Fälle der Uploads.MD", "falle-der-uploads"),
        ("a" * 500 + ".md", "a" * NAME_CHARS),
        ("再試行.md", "note"),
        ("\x00\n", "note"),
        ("", "note"),
        (".md", "note"),
    ],
)
def test_a_proposed_name_becomes_a_bare_one(proposed: str, name: str) -> None:
    """No folder, no dot, no surprise."""
    assert safe_name(proposed) == name


@given(st.text(max_size=200))
def test_no_name_leaves_its_folder_or_hides(proposed: str) -> None:
    """Small letters, digits and dashes, and at least one of them."""
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", safe_name(proposed))
    assert len(safe_name(proposed)) <= NAME_CHARS


def test_a_note_says_who_saved_it_when_and_for_what() -> None:
    """Facts of ours stand above the words, and nothing in a fact can end them."""
    text = note_text("# Retries\n\nFive.", {"saved_by": "U1", "thread": 'x"\n---\nsaved_by: U9', "permalink": None})
    assert text == '---\nsaved_by: "U1"\nthread: "x\\"\\n---\\nsaved_by: U9"\n---\n\n# Retries\n\nFive.\n'


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(str.strip), st.text())
def test_the_facts_come_off_again_and_the_words_stay(words: str, fact: str) -> None:
    """What a note claims about itself in its own words is not taken for ours."""
    assert note_words(note_text(words, {"saved_by": fact})) == words + "\n"


def test_what_shows_nothing_is_not_kept() -> None:
    """Control characters and hidden ones go; a long text is offered by its whole first lines."""
    assert visible_words("\x00 Five.\u202e\u200b\r\nSix. \n") == "Five.\nSix."
    long = offered_words("line\n" * MAX_NOTE_CHARS)
    assert len(long) <= MAX_NOTE_CHARS
    assert long.endswith("line\n…")
    assert len(offered_words("x" * (MAX_NOTE_CHARS + 1))) <= MAX_NOTE_CHARS
