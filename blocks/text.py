"""Outgoing text, one door: every string of ours that reaches Slack passes here.

Pure. `to_mrkdwn` for Markdown (drafts), `escape` for plain text inside mrkdwn, `inert` for what somebody wrote in
Slack, `plain` for plain_text objects; then `split` or `truncate` to the limits of blocks/limits.py.
"""

from __future__ import annotations

import re
from typing import Final

from blocks.escaping import defuse, escape, escape_controls
from blocks.fences import FENCE, fence, prefix_lines
from blocks.limits import (
    BUTTON_CHARS,
    HEADER_CHARS,
    MESSAGE_ADVISED_CHARS,
    MESSAGE_CHARS,
    SECTION_CHARS,
    VALUE_CHARS,
)
from blocks.mrkdwn import to_mrkdwn
from blocks.splitting import TRUNCATED, split, truncate

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
    "fence",
    "inert",
    "plain",
    "prefix_lines",
    "quote",
    "split",
    "to_mrkdwn",
    "truncate",
]

_TOKEN: Final = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def quote(text: str) -> str:
    r"""Return mrkdwn as a quotation, every line marked.

    >>> quote("one\n\ntwo")
    '> one\n>\n> two'
    """
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def inert(text: str) -> str:
    """Return a message as Slack delivered it (entities, `<@U1>`) so that it reads the same and notifies nobody.

    >>> inert("<@U1|eve> &lt;b&gt; <!here> <https://x.io|docs>")
    '@eve &lt;b&gt; @\u200bhere docs (https://x.io)'
    """
    spelled = _TOKEN.sub(_spell, text)
    raw = re.sub("&(?:lt|gt|amp);", lambda entity: _ENTITIES[entity[0]], spelled)
    return defuse(escape_controls(raw))


def plain(text: str, limit: int = HEADER_CHARS) -> str:
    r"""Return text for a plain_text object: one line, no control characters, at most `limit` characters.

    >>> plain("Deploy\n of  api", limit=13), plain("Roll out everywhere", limit=9)
    ('Deploy of api', 'Roll out…')
    """
    line = defuse(" ".join(_CONTROLS.sub(" ", text).split()))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _spell(token: re.Match[str]) -> str:
    """Return one of Slack's tokens as words."""
    sign, target, label = token.groups()
    if sign:
        name = label or target.partition("^")[0]
        return ("@" if sign == "!" else sign) + name.lstrip("@#")
    return f"{label} ({target})" if label and label != target else target
