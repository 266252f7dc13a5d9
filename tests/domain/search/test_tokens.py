"""German questions find English code; everybody else's questions stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.tokens import extra_words, in_english, question_stems, question_terms


@pytest.mark.parametrize(
    ("asked", "english"),
    [
        ("Wo werden Passwörter geprüft?", "password check?"),
        ("Wie oft wird eine fehlgeschlagene Zahlung wiederholt?", "fehlgeschlagene payment retry?"),
        ("Welche Zeitüberschreitung gilt für die Datenbankverbindung?", "timeout gilt database connection?"),
        ("Wieso ist der Cache in `shop.prices` so lange gültig?", "Cache `shop.prices` expire?"),
        ("wo wird der Token-Handler aufgerufen", "Token-Handler call"),
    ],
)
def test_german_becomes_what_code_calls_it(asked: str, english: str) -> None:
    """Compounds are taken apart; what is no entry, and what is code, stays."""
    assert in_english(asked) == english


@pytest.mark.parametrize(
    "asked",
    [
        "Where is the timeout set?",
        "Was the list in the die-hard mode also bin?",
        "Où est la configuration du cache des prix ?",
        "Onde fica a lista das contas da loja?",
        "¿Dónde es la clase que lee el listado?",
        "MAX_RETRIES?",
        "",
    ],
)
def test_other_languages_stay(asked: str) -> None:
    """Words that they share with German make no question German."""
    assert in_english(asked) == asked


def test_a_question_counts_the_same_words_as_its_english_twin() -> None:
    """What covers the one covers the other."""
    assert question_stems("Wo wird die Verbindung zur Datenbank geöffnet?") == question_stems(
        "Where is the connection to the database opened?"
    )


def test_a_long_hostile_word_costs_nothing() -> None:
    """It is no compound."""
    text = "wird nicht " + "datenbank" * 20_000
    assert in_english(text).endswith("datenbank")


@given(st.lists(st.sampled_from(("getUser", "HTTPServer", "MAX_SIZE", "x2Y", "_fooBar", "a", "9", "A1b")), max_size=8))
def test_parts_of_names_do_not_depend_on_the_script_around_them(names: list[str]) -> None:
    """A text in ASCII alone is looked through faster, and gives what it gives beside another script."""
    text = " = ".join(names)
    assert extra_words(text).split() == extra_words(f"{text} é").split()


def test_code_is_looked_for_however_common_its_words_are() -> None:
    """`many` is a parameter, and 404s are answers of a server."""
    assert {"many", "true"} <= {term.about for term in question_terms("what does `many=True` do?")}
    assert "many" not in {term.about for term in question_terms("how many of them are true?")}
    assert "404" in {term.about for term in question_terms("where are 404s handled?")}
