"""Slips of the finger."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.tokens import slips, trigrams

WORDS = st.text("abcd", min_size=5, max_size=9)


@given(WORDS, WORDS)
def test_slips_count_the_same_both_ways_and_one_change_is_one(one: str, other: str) -> None:
    """Dropped, doubled and exchanged letters are one slip each."""
    assert min(slips(one, other, 3), 4) == min(slips(other, one, 3), 4)
    assert (slips(one, other, 3) == 0) == (one == other)
    assert slips(one, one[:2] + one[3:], 2) == slips(one, one[:2] + "x" + one[2:], 2) == 1
    exchanged = one[:2] + one[3] + one[2] + one[4:]
    assert slips(one, exchanged, 2) == (one != exchanged)


@given(WORDS, st.integers(0, 8), st.sampled_from("xyz"))
def test_a_word_with_one_slip_shares_a_trigram_with_it(word: str, at: int, letter: str) -> None:
    """So whoever looks for it by trigrams finds it."""
    at %= len(word) - 1
    for wrong in (word[:at] + letter + word[at + 1 :], word[:at] + word[at + 1] + word[at] + word[at + 2 :]):
        assert set(trigrams(word)) & set(trigrams(wrong))
