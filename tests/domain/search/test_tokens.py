"""What a question asks for: words, names and code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.tokens import (
    WordCounts,
    extra_words,
    likelihood,
    question_phrases,
    question_stems,
    question_words,
    rank,
    shared_stems,
)


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


CART = WordCounts(1_000, {"cart": 20, "host": 3})


def best(scores: dict[int, float], paths: dict[int, str], held: dict[str, set[int]] | None = None) -> list[int]:
    """Return the passages in the order of their rank; by default each holds every word."""
    held = {word: set(scores) for word in CART.found} if held is None else held
    looked_at = {one: paths[one] for one in scores}
    return [one.passage for one in rank(scores, held, CART, looked_at, question="cart", limit=8)]


@given(st.lists(st.tuples(st.floats(1, 50), st.sampled_from(("src/a.py", "src/b.py", "tests/c.py"))), max_size=20))
def test_scores_never_rise_and_a_file_that_is_gone_is_not_found(found: list[tuple[float, str]]) -> None:
    """However many passages lie in one file."""
    scores = {at: score for at, (score, _) in enumerate(found)}
    paths = {at: path for at, (_, path) in enumerate(found) if path != "src/b.py"}
    held = {word: set(scores) for word in CART.found}
    ranked = rank(scores, held, CART, paths, question="cart", limit=8)
    assert len(ranked) == min(8, len(paths))
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


def test_code_comes_before_tests() -> None:
    """Unless the test is much better."""
    paths = {1: "tests/test_a.py", 2: "src/a.py"}
    assert best({1: 10.0, 2: 9.0}, paths) == [2, 1]
    assert best({1: 40.0, 2: 9.0}, paths) == [1, 2]


def test_what_holds_more_of_the_question_comes_first_and_what_holds_little_of_it_is_left_out() -> None:
    """A little may be enough where it says much."""
    paths = {1: "a.py", 2: "b.py"}
    assert best({1: 10.0, 2: 9.0}, paths, {"cart": {1, 2}, "host": {2}}) == [2, 1]
    assert best({1: 1.0, 2: 1.0}, paths, {"cart": {1}, "host": {2}}) == [2]
    assert best({1: 20.0}, paths, {"cart": {1}, "host": set()}) == [1]


def test_an_index_that_knows_a_rare_word_is_likelier_than_one_full_of_a_common_word() -> None:
    """And one that knows nothing of a question is the least likely."""
    rare = WordCounts(1_000, {"cart": 20, "host": 0})
    common = WordCounts(1_000, {"cart": 0, "host": 400})
    neither = WordCounts(1_000, {"cart": 0, "host": 0})
    whole = WordCounts(3_000, {"cart": 20, "host": 400})
    told = [likelihood(own, whole, 3) for own in (rare, common, neither)]
    assert told[2] == 0
    assert told == sorted(told, reverse=True)
