"""Outgoing text, one door: every string of ours that reaches Slack passes here.

Pure. `to_mrkdwn` for Markdown (drafts), `escape` for plain text inside mrkdwn, `escape_text` for what somebody wrote in
Slack, `plain` for plain_text objects; then `split` or `truncate` to the limits of blocks/text/splitting.py.

The two blocks that nearly every view is made of: a section of mrkdwn, and a line of small print.

Source of the limit: https://docs.slack.dev/reference/block-kit/composition-objects/text-object
"""

from __future__ import annotations

import re
from typing import Final

from slack_sdk.models.blocks import ContextBlock, InteractiveElement, MarkdownTextObject, SectionBlock

from blocks.text.escaping import FENCE, disarm_mentions, escape, escape_controls, fence, prefix_lines, with_local_times
from blocks.text.mrkdwn import to_mrkdwn
from blocks.text.splitting import (
    BUTTON_CHARS,
    HEADER_CHARS,
    MESSAGE_ADVISED_CHARS,
    MESSAGE_CHARS,
    SECTION_CHARS,
    TRUNCATED,
    VALUE_CHARS,
    split,
    truncate,
)

__all__ = [
    "BUTTON_CHARS",
    "FENCE",
    "HEADER_CHARS",
    "MESSAGE_ADVISED_CHARS",
    "MESSAGE_CHARS",
    "SECTION_CHARS",
    "TRUNCATED",
    "VALUE_CHARS",
    "escape",
    "escape_text",
    "fence",
    "given_back",
    "plain",
    "prefix_lines",
    "quote_block",
    "split",
    "to_mrkdwn",
    "truncate",
]

PIECE_CHARS: Final = 2_800
"""Of one message; Slack shows some 4,000 characters of a text, and escaping makes it longer."""
_TOKEN: Final = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def quote_block(text: str) -> str:
    r"""Return mrkdwn as a quotation, every line marked.

    >>> quote_block("one\n\ntwo")
    '> one\n>\n> two'
    """
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def escape_text(text: str) -> str:
    """Return a message as Slack delivered it (entities, `<@U1>`) so that it reads the same and notifies nobody.

    >>> escape_text("<@U1|eve> &lt;b&gt; <!here> <https://x.io|docs>")
    '@eve &lt;b&gt; @\u200bhere docs (https://x.io)'
    """
    spelled = _TOKEN.sub(_spell, text)
    raw = re.sub("&(?:lt|gt|amp);", lambda entity: _ENTITIES[entity[0]], spelled)
    return disarm_mentions(escape_controls(raw))


def mention(one: str) -> str:
    """Return what names a user, a user group, a channel, or with `channel` everybody in the channel it is said in.

    >>> mention("U1"), mention("S1"), mention("C1"), mention("channel")
    ('<@U1>', '<!subteam^S1>', '<#C1>', '<!channel>')
    """
    if one == "channel":
        return "<!channel>"
    return {"S": f"<!subteam^{one}>", "C": f"<#{one}>", "G": f"<#{one}>"}.get(one[:1], f"<@{one}>")


def plain(text: str, limit: int = HEADER_CHARS) -> str:
    r"""Return text for a plain_text object: one line, no control characters, at most `limit` characters.

    >>> plain("Deploy\n of  api", limit=13), plain("Roll out everywhere", limit=9)
    ('Deploy of api', 'Roll out…')
    """
    line = disarm_mentions(" ".join(_CONTROLS.sub(" ", text).split()))
    if len(line) <= limit:
        return line
    cut = disarm_mentions(line[: limit - 1])  # again: the cut itself may have made `@here` of `@hereabouts`
    return (cut if len(cut) < limit else line[: limit - 2]).rstrip() + "…"


def _spell(token: re.Match[str]) -> str:
    """Return one of Slack's tokens as words."""
    sign, target, label = token.groups()
    if sign:
        name = label or target.partition("^")[0]
        return ("@" if sign == "!" else sign) + name.lstrip("@#")
    return f"{label} ({target})" if label and label != target else target


def section(
    text: str, *, block_id: str | None = None, accessory: InteractiveElement | None = None, limit: int = SECTION_CHARS
) -> SectionBlock:
    """Return a section of mrkdwn; what is too long for one is cut, and says so. Its times are the reader's."""
    shown = MarkdownTextObject(text=in_local_time(text, limit))
    return SectionBlock(text=shown, block_id=block_id, accessory=accessory)


def verbatim(text: str) -> SectionBlock:
    """Return a section of mrkdwn whose every word, times included, is somebody's and stays as it is."""
    return SectionBlock(text=MarkdownTextObject(text=truncate(text, SECTION_CHARS)))


def context(text: str) -> ContextBlock:
    """Return small print, cut as a section is. Its times are the reader's."""
    return ContextBlock(elements=[MarkdownTextObject(text=in_local_time(text))])


def in_local_time(text: str, limit: int = SECTION_CHARS) -> str:
    """Return mrkdwn of at most `limit` characters with the reader's times; in UTC where there is no room for those."""
    cut = truncate(text, limit)
    shown = with_local_times(cut)
    return shown if len(shown) <= limit else cut


def given_back(why: str, typed: str) -> list[str]:
    r"""Return the messages that say why something was refused and what was typed; `typed` is raw text.

    >>> given_back("Somebody was faster.", "It is 5.")
    ['Somebody was faster.\nYou wrote:\n```\nIt is 5.\n```']
    """
    if not typed.strip():
        return [why]
    whole = typed.encode("utf-8", "replace").decode()
    first, *rest = (whole[start : start + PIECE_CHARS] for start in range(0, len(whole), PIECE_CHARS))
    return [f"{why}\nYou wrote:\n{fence(first)}", *map(fence, rest)]
