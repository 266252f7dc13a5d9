"""Long text is cut where a reader would cut it, and no part breaks on its own."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import fence
from blocks.text.splitting import FENCE, TRUNCATED, split, truncate

PIECES = st.sampled_from(
    ["word ", "a@here", "\n", "\n\n", "```", "```\n", "&amp;", "&lt;", "<https://x.io|docs>", "<@U1>", "`", "    "]
)
MRKDWN = st.lists(PIECES | st.text(max_size=6), max_size=120).map("".join)
LIMITS = st.integers(20, 120)


def essence(text: str) -> str:
    """Return what must survive a split: everything but white space, the marks of code and what nobody sees."""
    return re.sub(r"[\s`\u200b]", "", text)


@given(MRKDWN, LIMITS)
@example("<```>", 20)  # a fence mark between angle brackets is one as well
def test_every_part_fits_and_is_balanced(text: str, limit: int) -> None:
    """No part is over the limit, none leaves a code block open."""
    for part in split(text, limit):
        assert len(part) <= limit
        assert part.count(FENCE) % 2 == 0


@given(MRKDWN, LIMITS)
def test_nothing_is_lost(text: str, limit: int) -> None:
    """All that is missing from the parts is white space at the cuts."""
    assert essence("".join(split(text, limit))) == essence(text)


@given(st.lists(st.sampled_from(["@here", "@channel", "x", " ", "a@"]), max_size=80).map("".join), LIMITS)
@example("@channelxx@herex@here", 20)
@example("a@a@a@a@a@@herex" * 2, 20)
def test_no_cut_makes_a_broadcast_of_what_was_none(text: str, limit: int) -> None:
    """The letter before an `@` keeps it harmless; a part that begins with one has lost that letter."""
    shout = re.compile(r"(?<![A-Za-z0-9])@(?:here|channel)(?![A-Za-z0-9])")
    if not shout.search(text):
        assert not any(shout.search(part) for part in split(text, limit))


@given(st.lists(st.sampled_from(["&amp;", "&lt;", "<@U1>", "ab", " "]), max_size=90).map("".join), LIMITS)
def test_entities_and_mentions_stay_whole(text: str, limit: int) -> None:
    """A part holds whole tokens only."""
    for part in split(text, limit):
        assert not re.search(r"[&<>]", re.sub(r"&amp;|&lt;|<@U1>", "", part))


@given(st.text(), st.integers(20, 300))
def test_markdown_fits_slack_s_sections(markdown: str, limit: int) -> None:
    """The way of a draft, Markdown to parts, never breaks a limit."""
    assert all(0 < len(part) <= limit for part in split(to_mrkdwn(markdown), limit))


@given(MRKDWN, st.integers(5, 200))
def test_a_truncated_text_fits_is_balanced_and_says_so(text: str, limit: int) -> None:
    """Shortening is never silent and closes what it cuts."""
    short = truncate(text, limit)
    assert len(short) <= limit
    assert short.count(FENCE) % 2 == 0
    assert essence(short) == essence(text) or short.endswith(("…", TRUNCATED))


@given(st.lists(st.text("ab \t(){}:", max_size=30), min_size=1, max_size=60), st.integers(80, 160))
def test_the_lines_of_cut_code_keep_their_indentation(lines: list[str], limit: int) -> None:
    """Code that is cut at line ends reads the same when its blocks are put together."""
    code = "\n".join(lines)
    bodies = [part.removeprefix("```\n").removesuffix("\n```") for part in split(fence(code), limit)]
    assert "\n".join(bodies) == code.removesuffix("\n")


def test_a_token_longer_than_a_part_is_still_cut() -> None:
    """The limit wins: an address of 200 characters goes through a part of 50 in pieces."""
    parts = split(f"<https://x.io/{'a' * 200}>", 50)
    assert all(len(part) <= 50 for part in parts)


def test_a_limit_that_holds_no_fence_is_refused() -> None:
    """Under 20 characters there is nothing sensible to do."""
    with pytest.raises(ValueError, match="leaves no room"):
        split("text", 10)
