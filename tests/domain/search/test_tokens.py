"""Questions of eight languages find English code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.foreign_words import in_english
from bot.domain.search.tokens import extra_words, question_stems, question_terms, shared_stems
from tests.tables import each_row


@each_row(
    "asked, english",
    [
        ("Wo werden Passwörter geprüft?", "password check?"),
        ("Wie oft wird eine fehlgeschlagene Zahlung wiederholt?", "fail payment retry?"),
        ("Welche Zeitüberschreitung gilt für die Datenbankverbindung?", "timeout database connection?"),
        ("Wieso ist der Cache in `shop.prices` so lange gültig?", "Cache `shop.prices` expire?"),
        ("wo wird der Token-Handler aufgerufen", "Token-Handler call"),
        ("Où est la configuration du cache des prix ?", "configuration cache price ?"),
        ("quand est-ce que la base de données est fermée", "- database close"),
        ("Onde fica a lista das contas do usuário?", "list account user?"),
        ("¿Cómo se borran las sesiones caducadas?", "¿ delete session expire?"),
        ("bagaimana kata sandi pengguna disimpan", "password user keep"),
        ("systemdのソケットは`run`でどこから読み込まれますか", "systemd socket `run` load"),
        ("缓存的过期时间在哪里设置?", "cache expire time configuration ?"),
    ],
)
def test_a_question_becomes_what_code_calls_it(asked: str, english: str) -> None:
    """Compounds, endings and phrases are taken apart; what is no entry, and what is code, stays."""
    assert in_english(asked) == english


@each_row(
    "asked",
    [
        "Where is the timeout set?",
        "Was the list in the die-hard mode also bin?",
        "The plan: log me in as admin or do so in a van",
        "The worker dies on deploy, will it be restarted?",
        "Will the tests pass with the standard settings?",
        "Which version of Python does CI use, and with which options?",
        "Is the en translation of the todo app valid in the final build?",
        "Where is the status folder of the ini file?",
        "MAX_RETRIES?",
        "",
    ],
)
def test_english_stays(asked: str) -> None:
    """Words that it shares with another language make no question foreign."""
    assert in_english(asked) == asked


def test_a_question_counts_the_same_words_as_its_english_twin() -> None:
    """What covers the one covers the other."""
    assert question_stems("Wo wird die Verbindung zur Datenbank geöffnet?") == question_stems(
        "Where is the connection to the database opened?"
    )


def test_comments_in_the_language_of_the_question_are_found_as_well() -> None:
    """The words of a script without blanks stand beside the English ones."""
    asked = "タイムアウトはどこで設定されていますか"
    assert {term.words for term in question_terms(asked)} >= {("timeout",), ("設定",)}
    assert shared_stems(question_stems(asked), "# タイムアウトの設定") == question_stems(asked)


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
