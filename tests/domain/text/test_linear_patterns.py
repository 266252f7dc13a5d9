"""Patterns that RE2 runs, one by one and many together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.text.linear_patterns import LinearPattern, LinearSet

PATTERNS = (
    r"(?:^|[^\pL\pN_])(?:(?:api|shop) (?:(?:is|still) )*(?:down|broken))(?:$|[^\pL\pN_])",
    r"(?:^|[^\pL\pN_])(?:nobody .*can pay|niemand kann zahlen)(?:$|[^\pL\pN_])",
    r"支払.*でき(?:ない|ません)",
    r"[a-z]+ing",
    r"5\d\ds?",
)
WORDS = ("api", "shop", "is", "still", "down", "broken", "nobody", "can", "pay", "支払い", "できない", "503s", "\ud800")


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.sampled_from(["", " ", ", "]))
def test_many_patterns_find_what_each_of_them_finds_alone(words: list[str], between: str) -> None:
    """Asking about all of them together changes no answer, whatever the text."""
    text = between.join(words)
    alone = [number for number, pattern in enumerate(PATTERNS) if LinearPattern(pattern).is_in(text)]
    assert sorted(LinearSet(PATTERNS).found_in(text)) == alone


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_places_are_those_of_characters_in_any_script(words: list[str]) -> None:
    """A text in ASCII alone is read as bytes; the places are the same as where it goes on in another script."""
    text = " ".join(words)
    pattern = LinearPattern("[a-z]+s|50[0-9]")
    assert list(pattern.spans(text)) == list(pattern.spans(f"{text} 支払い"))


def test_no_patterns_find_nothing() -> None:
    """A list may be empty, as that of a language without words."""
    assert list(LinearSet(()).found_in("anything")) == []
