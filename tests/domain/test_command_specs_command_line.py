"""What is typed after `/triage`: steering words are cleaned, what is said is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.command_specs import clean_word, read_line
from tests.tables import each_row


@each_row(
    "text",
    [
        "heartbeat run shop",
        "  HEARTBEAT \t Run   shop ",
        "heartbeat\u00a0run\u3000shop",
        "/triage heartbeat run shop",
        "`/triage heartbeat run shop`",
        "```\n/triage heartbeat run shop\n```",
        "“heartbeat run shop”",
        "heartbeat run <#C0SHOP|shop>",
        "heartbeat\u200b run\u202e shop.",
    ],
)
def test_a_command_is_read_however_it_was_pasted(text: str) -> None:
    """Case, blanks, quotes, fences, slashes, hidden characters and Slack's own tokens make no difference."""
    line = read_line(text)
    assert [line.word(place) for place in range(3)] == ["heartbeat", "run", "shop"]


@each_row("text", [None, 7, [], "", "   ", "`", "/", "/triage", "```", "\u200b", "“”"])
def test_nothing_is_an_empty_line(text: object) -> None:
    """Whatever it is made of."""
    assert read_line(text).word(0) == ""


@each_row(
    "question",
    ["Why “five”?", "is `a < b` true?", "what does <@U1|ana> own?", "one\n\ntwo  three", "/triage does what?"],
)
def test_what_is_said_is_kept_as_it_was_typed(question: str) -> None:
    """Quotes, code, blanks and lines of a question are its own."""
    assert read_line(f"investigate {question}").words_after(1) == question


def test_slacks_escapes_are_undone_once() -> None:
    """`&amp;lt;` was typed as `&lt;`."""
    assert read_line("investigate a &lt; b &amp;lt; c").words_after(1) == "a < b &lt; c"


@given(text=st.text(max_size=200))
def test_words_and_rest_always_agree(text: str) -> None:
    """Every word has a place, what comes after it is part of what was typed, and no half character survives."""
    line = read_line(text)
    assert [len(line.words_after(count)) for count in range(len(line.words))] == sorted(
        (len(line.words_after(count)) for count in range(len(line.words))), reverse=True
    )
    assert line.words_after(len(line.words)) == ""
    line.text.encode()


@given(text=st.text(max_size=40))
def test_a_clean_word_stays_clean(text: str) -> None:
    """Cleaning twice is cleaning once, but for what was wrapped twice."""
    assert len(clean_word(clean_word(text))) <= len(clean_word(text)) <= max(len(text), 0)
