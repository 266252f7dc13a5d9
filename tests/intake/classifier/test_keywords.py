"""Keywords in a text: one pass tells which may be there, and no phrase is missed by it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.intake.classifier.keywords import Keywords, expand

PIECES = st.sampled_from(
    ["api", "is", "down", " ", ",", "?", "\\", "é", "日本", "{is,the api}", "{,still}", "{日,x}", "|"]
)
KEYWORDS = st.lists(PIECES, min_size=1, max_size=6).map("".join).filter(str.strip)


@given(KEYWORDS, st.data())
def test_every_phrase_of_a_keyword_is_found(keyword: str, data: st.DataObject) -> None:
    """Alone, and between words that are none of it; blanks at the ends of a choice change nothing."""
    phrases = [phrase for phrase in expand(keyword) if phrase]
    if phrases:
        said = data.draw(st.sampled_from(phrases))
        keywords = Keywords({"found": [keyword]})
        assert keywords.kinds_in(said) == keywords.kinds_in(f"now {said} now") == {"found"}


@given(st.lists(st.sampled_from(["api", "apis", "is", "down", "日本", " ", ",", "?"]), max_size=8).map("".join))
def test_a_phrase_counts_as_whole_words_only(text: str) -> None:
    """In scripts that are written without blanks anywhere."""
    found = Keywords({"spaced": ["api {is,was} down", "down"], "unspaced": ["日本"]}).kinds_in(text)
    assert ("spaced" in found) == (re.search(r"\b(?:api is down|down)\b", text) is not None)
    assert ("unspaced" in found) == ("日本" in text)


def test_an_exception_takes_back_what_it_overlaps() -> None:
    """Whichever keyword a text held first."""
    keywords = Keywords({"alarm": ["{api,prod} is down"], "except": ["if {api,prod} is"], "opening": ["^any idea"]})
    assert keywords.kinds_in("api is down") == {"alarm"}
    assert keywords.kinds_in("if api is down") == frozenset()
    assert keywords.kinds_in("if api is down, prod is down. any idea") == {"alarm", "opening"}
    assert keywords.kinds_in("not any idea") == frozenset()
