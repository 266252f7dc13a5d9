"""What a question asks for: words, names and code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.tokens import extra_words, question_phrases, question_stems, question_words, shared_stems


def test_a_name_in_text_without_blanks_is_a_word_of_its_own() -> None:
    """And so are the pairs of signs, which comments may have."""
    asked = "max_retriesはどこで設定されていますか"
    assert {"retries", "設定"} <= set(question_words(asked))
    assert "max retries" in question_phrases(asked)
    assert shared_stems(question_stems(asked), "# リトライの設定") == {"設定"}


@given(st.lists(st.sampled_from(("getUser", "HTTPServer", "MAX_SIZE", "x2Y", "_fooBar", "a", "9", "A1b")), max_size=8))
def test_parts_of_names_do_not_depend_on_the_script_around_them(names: list[str]) -> None:
    """A text in ASCII alone is looked through faster, and gives what it gives beside another script."""
    text = " = ".join(names)
    assert extra_words(text).split() == extra_words(f"{text} é").split()


def test_code_is_looked_for_however_common_its_words_are() -> None:
    """`many` is a parameter, and 404s are answers of a server."""
    assert {"many", "true"} <= set(question_words("what does `many=True` do?"))
    assert "many" not in question_words("how many of them are true?")
    assert "404" in question_words("where are 404s handled?")
