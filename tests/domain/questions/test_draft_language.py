"""The draft's own words are told from code and quotations, counted and judged."""

from __future__ import annotations

from bot.domain.questions.draft_language import (
    hedges,
    overclaims,
    own_sentences,
    sentences,
)
from tests.tables import each_row


def test_code_and_quotations_are_not_the_draft_s_own_words() -> None:
    """What is left are the sentences somebody would be held to."""
    draft = "It retries.\n\n```py\nmaybe()\n```\n> perhaps\n\nSee `x = might()`."
    assert own_sentences(draft) == ["It retries", "See ‹code›"]


@each_row(
    "text, count",
    [
        ("One. Two! Three?", 3),
        ("In v1.2.3 of bot/app.py it is 5.", 1),
        ("Use e.g. this one. Or i.e. that.", 2),
        ("一つ。二つ。", 2),
        ("line one\nline two", 2),
        ("Wait... what", 2),
    ],
)
def test_sentences_end_where_a_reader_would_stop(text: str, count: int) -> None:
    """Versions, file names and abbreviations hold dots that end nothing."""
    assert len(sentences(text)) == count


@each_row("text", ["definitely", "without any doubt", "100% certain", "I'm sure"])
def test_certainty_is_found(text: str) -> None:
    """Words for being sure."""
    assert overclaims([f"… {text} …"])


@each_row("text", ["not sure", "perhaps", "I think", "it seems", "AFAIK"])
def test_doubt_is_found(text: str) -> None:
    """Words for doubt."""
    assert hedges([f"… {text} …"])


@each_row("text", ["not guaranteed", "isn't guaranteed", "the undefinitelys", "mightier", "whenever"])
def test_words_that_only_look_alike_are_left_alone(text: str) -> None:
    """Negated certainty is none, and a word inside a word is another word."""
    assert overclaims([text]) == hedges([text]) == []
