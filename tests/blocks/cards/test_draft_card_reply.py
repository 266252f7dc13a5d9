"""A reply fits into few messages, whatever it is written with, and says so if it had to be cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from blocks.cards.reply_cards import (
    CUT_NOTE,
    MAX_MESSAGES,
    message_text,
    preview_message,
    reply_messages,
    reply_sections,
)
from blocks.text.splitting import MESSAGE_BLOCK_CHARS, SECTION_CHARS, chars_of
from bot.casework.posting.freshness import MAX_REPLY_CHARS
from tests.blocks.limits import as_slack_takes_it, texts
from tests.blocks.text.test_outgoing_text import MARKDOWN
from tests.tables import each_row

WIDE_TABLE = f"|{'w' * 900}|b|\n|-|-|\n" + "|a|b|\n" * 340
DEEP_QUOTE = "> " * 20 + "a\n" + "b\n" * 5_900
DEEP_LIST = "- a\n" + "".join(f"{'  ' * depth}- a\n" for depth in range(1, 19)) + "b\n" * 5_000
LONGEST = st.builds(
    lambda before, unit, after: (
        (before + unit * (MAX_REPLY_CHARS // len(unit)))[: MAX_REPLY_CHARS - len(after)] + after
    ),
    MARKDOWN,
    MARKDOWN.filter(bool),
    MARKDOWN,
)


def sections(draft: str) -> list[str]:
    """Return the text of each section, after every check that Slack would make of each message."""
    return [text for message in reply_messages(draft) for text in texts(as_slack_takes_it(message))]


@pytest.mark.full
@given(LONGEST)
@example(WIDE_TABLE)
@example(DEEP_LIST)
@example("a\n\n" * 4_000)
def test_any_reply_that_may_be_posted_fits_into_a_few_messages(draft: str) -> None:
    """Property: whatever it is written with."""
    check_messages(draft)


def check_messages(draft: str) -> None:
    """Make a reply's messages and their previews: few, and none too long."""
    assert len(draft) <= MAX_REPLY_CHARS
    found = reply_messages(draft)
    assert len(found) <= MAX_MESSAGES
    for number, message in enumerate(found, 1):
        shown = preview_message(message, "mark", number=number, count=len(found), version=99)
        assert chars_of(as_slack(shown)) <= MESSAGE_BLOCK_CHARS
    assert all(len(message_text(message)) <= SECTION_CHARS for message in found)


def as_slack(blocks: list[Block]) -> list[Block]:
    """Return blocks that Slack would take."""
    as_slack_takes_it(blocks)
    return blocks


def test_an_ordinary_reply_is_one_message() -> None:
    """And a long one is split between sections, nothing lost."""
    assert len(reply_messages("word " * 500)) == 1
    found = reply_messages("\n\n".join(f"paragraph {n} " + "& " * 200 for n in range(30)))
    assert 1 < len(found) <= MAX_MESSAGES
    said = "".join(text for message in found for text in texts([block.to_dict() for block in message]))
    assert [n for n in range(30) if f"paragraph {n} " not in said] == []


def test_what_does_not_fit_is_said_not_dropped_in_silence() -> None:
    """The approver sees the note below the card before anybody sees it in the thread."""
    found = reply_messages(DEEP_QUOTE)
    assert len(found) == MAX_MESSAGES
    assert [*texts(as_slack_takes_it(found[-1]))][-1] == CUT_NOTE
    assert CUT_NOTE not in sections("word " * 2_400)
    assert reply_sections(DEEP_QUOTE)[-1].to_dict()["text"]["text"] == CUT_NOTE


ALL_EMPHASIS = "***~~a\n" + "&\n" * 5_900 + "~~***"


@each_row("draft", [ALL_EMPHASIS, "&" * MAX_REPLY_CHARS])
def test_the_longest_replies_fit_into_a_few_messages(draft: str) -> None:
    """Each within Slack's limit, also with the line above it that its preview has."""
    check_messages(draft)
