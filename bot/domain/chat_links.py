"""Links to chat messages, made from one that is known: no request, so that a list of many opens at once. Pure."""

from __future__ import annotations

import re

_KNOWN = re.compile(r"(https?://[^/\s<>|]+)/archives/[^\s<>|]+")


def link_beside(permalink: str | None, channel: str, ts: str) -> str | None:
    """Return the link of another message of the same workspace; None where the known one has not Slack's form.

    >>> link_beside("https://acme.slack.com/archives/C1/p1700000000000100", "C0OPS", "1700000001.000200")
    'https://acme.slack.com/archives/C0OPS/p1700000001000200'
    """
    known = _KNOWN.fullmatch(permalink or "")
    return f"{known[1]}/archives/{channel}/p{ts.replace('.', '')}" if known else None
