"""Hidden and half characters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.text.sanitize import check_whole, has_halves, has_visible, mend
from bot.errors import InputError
from tests.tables import each_row

TEXTS = st.text(st.characters(), max_size=20)
DOCUMENTS = st.recursive(
    TEXTS | st.none() | st.integers(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.just("k"), inner)
)


@given(DOCUMENTS)
def test_a_mended_document_can_be_written_and_differs_in_nothing_else(document: object) -> None:
    """Whole texts stay as they are, at every depth."""
    holder = {"it": document}
    before = json.dumps(holder, ensure_ascii=False)
    mend(holder)
    after = json.dumps(holder, ensure_ascii=False)
    assert after == before.encode("utf-8", "replace").decode()
    assert not has_halves(after)


def test_a_deep_document_is_mended_without_exhausting_the_stack() -> None:
    """A model may answer with brackets only."""
    document: list[object] = ["\ud800"]
    inner = document
    for _ in range(50_000):
        document = [document]
    mend(document)
    assert inner == ["?"]


@each_row("text", ["", " \n\t", "\u200b\u200d\u2060\ufeff", "\u00a0\u2003", "\u2800\u3164", "\u0301", "\ue000"])
def test_what_shows_nothing_is_not_visible(text: str) -> None:
    """However many of them there are."""
    assert not has_visible(text * 100)


@each_row("text", ["5", "ok\u200b", "\U0001f44d", "是", "نعم", "\u200dא", "—", "\u2800."])
def test_what_can_be_read_is_visible(text: str) -> None:
    """In any script, a single sign is enough."""
    assert has_visible(text)


@each_row("text", ["\ud83d", "a\udc4d", "\udc4d\ud83d"])
def test_half_a_character_is_refused_in_a_sentence(text: str) -> None:
    """Which says what to do."""
    with pytest.raises(InputError, match="type it again"):
        check_whole(text)
