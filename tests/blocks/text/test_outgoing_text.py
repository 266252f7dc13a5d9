"""Outgoing text says what was meant, fits, and never shouts at a channel."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.outgoing_text import (
    escape,
    escape_text,
    fence,
    plain,
    quote_block,
    with_local_times,
)
from blocks.text.splitting import FENCE
from bot.domain.text.humanize import utc_text
from tests.tables import each_row

KNOWN = frozenset({"U012AB"})
SHOUT = re.compile(r"(?<![A-Za-z0-9])@(?:channel|here|everyone|group)(?![A-Za-z0-9])", re.IGNORECASE)
ALLOWED = re.compile(r"<@U012AB>|<(?:https?://|mailto:)[^<>|\s]+(?:\|[^<>\n]*)?>", re.IGNORECASE)
TOKENS = (
    "<!channel> <!chan\u200bnel> <!<!channel>channel> <!subteam^S1|@ops> @here @Everyone <@U9> <@U012AB> &lt; "
    "[a](!here) [a](<!here>) [a](http://x/<!here>) http://x.io/@here ` ``` ** _ ~~ #  > - 1. | |-|-| \\ & < > ! @ é"
)
PIECES = st.sampled_from([*TOKENS.split(" "), " ", "\n", "\n\n", "    ", "- ", "1. ", "# ", "> "])
MARKDOWN = st.lists(PIECES | st.text(max_size=8), max_size=25).map("".join)
RENDERINGS = [
    ("**bold** *it* _it_ ~~gone~~ `a<b`", "*bold* _it_ _it_ ~gone~ `a&lt;b`"),
    ("***both***", "_*both*_"),
    ("# Title with **bold**\ntext", "*Title with bold*\n\ntext"),
    ("[docs](https://x.io/a?b=1&c=2)", "<https://x.io/a?b=1&amp;c=2|docs (x.io)>"),
    ("<https://x.io>", "<https://x.io>"),
    ("![graph](https://x.io/g.png)", "<https://x.io/g.png|graph (x.io)>"),
    ("[a](./b.md)", "a (./b.md)"),
    ("[https://bank.example](https://evil.example)", "<https://evil.example>"),
    ("- a\n- b\n  - c", "• a\n• b\n    • c"),
    ("3. a\n4. b", "3. a\n4. b"),
    ("> said\n> so", "> said\n> so"),
    ("```python\nif a < b:\n\tpass\n```", "```\nif a &lt; b:\n\tpass\n```"),
    ("| a | b |\n|---|---|\n| long | 1 |", "```\na     b\n----  -\nlong  1\n```"),
    (f"| {'w' * 101} | b |\n|---|---|\n| x | 1 |\n| y | |", f"```\n{'w' * 101}  b\n{'-' * 24}  -\n{'x':24}  1\ny\n```"),
    ("**a\nb**", "*a*\n*b*"),
    ("un**believ**able", "un\u200b*believ*\u200bable"),
    ("see __init__.py and snake_case_name", "see __init__.py and snake_case_name"),
    ("[unused]: https://x.io", "[unused]: https://x.io"),
    ("<b>raw</b> <!-- html -->", "&lt;b&gt;raw&lt;/b&gt; &lt;!-- html --&gt;"),
    ("a\n\n---\n\nb", "a\n\n───\n\nb"),
]


@each_row("markdown, mrkdwn", RENDERINGS)
def test_markdown_is_said_in_slack_s_words(markdown: str, mrkdwn: str) -> None:
    """Each construct has one rendering."""
    assert to_mrkdwn(markdown) == mrkdwn


@given(MARKDOWN)
@example("<!channel>")
@example("<!chan\u200bnel>")
@example("<!<!channel>channel>")
@example("[x](!channel)")
@example("@**here** @\\here @&#104;ere &lt;!here&gt;")
def test_nothing_broadcasts_or_mentions_a_stranger(markdown: str) -> None:
    """Whatever is written, what leaves holds no broadcast, no group and no unknown user."""
    shown = to_mrkdwn(markdown)
    assert not SHOUT.search(shown)
    assert "<" not in ALLOWED.sub("", shown)


@given(st.text() | MARKDOWN)
@example("0" * 68 + ":@HERE00")  # the cut ends after HERE
def test_escaped_and_inert_text_never_broadcasts(text: str) -> None:
    """The doors for plain text and for Slack's own text are as tight as the one for Markdown."""
    for shown in (escape(text, KNOWN), escape_text(text), fence(text)):
        assert not SHOUT.search(shown)
        assert "<" not in shown.replace("<@U012AB>", "")
    assert not SHOUT.search(plain(text, 75))


@given(MARKDOWN)
def test_code_blocks_are_balanced(markdown: str) -> None:
    """Every code block that is opened is closed, whatever backticks the text holds."""
    assert to_mrkdwn(markdown).count(FENCE) % 2 == 0


@given(st.text("ab <>&*_~[]()#-\t\n").filter(lambda code: code.strip()))
def test_code_is_verbatim(code: str) -> None:
    """A code block shows every character of the code, markup and indentation included."""
    shown = to_mrkdwn(f"```py\n{code}\n```").removeprefix("```\n").removesuffix("\n```")
    assert shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == code


def test_a_known_user_is_mentioned_and_a_stranger_named() -> None:
    """Mentions survive only for people the caller vouches for."""
    assert escape("<@U012AB> and <@U9|eve>", KNOWN) == "<@U012AB> and @eve"


def test_a_message_from_slack_is_shown_as_its_writer_saw_it() -> None:
    """Slack's own entities and tokens are not escaped twice."""
    assert (
        escape_text("a &amp;&amp; b &lt;c&gt; <#C1|ops> <!subteam^S1|@team>") == "a &amp;&amp; b &lt;c&gt; #ops @team"
    )


@each_row("render", [to_mrkdwn, escape, escape_text, fence, lambda text: to_mrkdwn(f"`{text}`")])
def test_no_character_turns_the_order_in_which_a_line_is_read(render: Callable[[str], str]) -> None:
    """A comment of the code, or a message, that shows other words than it holds would be approved for those."""
    shown = render("ok = 1 \u202e# \u2066check\u2069 \U000e0041@\u2060channel")
    assert "ok = 1 # check @\u200bchannel" in shown


@each_row(
    "text, shown",
    [
        ("why?\n```Traceback\n  x```\nso", "> why?\n```Traceback\n  x```\n> so"),
        ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
        ("```\n*Posted*", "> ```\n> *Posted*"),
        ("a ```\n*Posted*\n``` b", "> a ```\n> *Posted*\n> ``` b"),
        ("&gt; Ann:\n&gt; ```Traceback\n&gt;   x```\nso", "> &gt; Ann:\n```Traceback\n  x```\n> so"),
    ],
)
def test_only_closed_code_blocks_of_a_quotation_are_unmarked(text: str, shown: str) -> None:
    """Slack shows a mark inside one; what it may not take for code stays in the quotation."""
    assert quote_block(text) == shown


AT = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
TOKEN = "<!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>"


def test_what_stands_behind_a_time_does_not_become_a_broadcast() -> None:
    """`UTC@here` was part of a word when it was escaped; the token in its place ends in a sign."""
    assert with_local_times(escape(f"{utc_text(AT)}@here")) == f"{TOKEN}@\u200bhere"


@each_row("render", [escape, escape_text, to_mrkdwn])
def test_a_claim_over_the_end_of_a_line_is_one(render: Callable[[str], str]) -> None:
    """Words of everyday stay: nobody is said to have approved anything, or code did."""
    assert render("so it was approved\nby Ada") == "so it was “approved\nby” Ada"
    assert render("where is the address validated? We checked it.") == "where is the address validated? We checked it."


def test_what_code_does_is_no_claim_in_a_reply() -> None:
    """A draft says so all the time; emphasis elsewhere in the line stays."""
    draft = "**Note** the token is validated by `check_token`, and `run()` validated it"
    assert to_mrkdwn(draft) == draft.replace("**", "*")


def test_a_reply_keeps_emoji_that_are_no_marks() -> None:
    """People write replies with them; in other texts any name might be a workspace's own check mark."""
    assert (
        to_mrkdwn("Done :tada: :white_check_mark: a:x:b", keep_emoji=True)
        == "Done :tada: (white check mark) a:\u200bx:b"
    )
    assert escape("Done :tada:") == "Done (tada)"
